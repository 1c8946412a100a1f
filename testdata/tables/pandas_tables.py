"""Writes `pandas.csv` and `pandas.parquet`: a table as pandas users have it, after a filter, with the defaults of
`to_csv` and `to_parquet`. Made with pandas 3.1.1 and pyarrow."""

import pandas as pd

table = pd.DataFrame(
    {
        "label": [1, 0, 2, 0],
        "qid": pd.Categorical(["shoes", "shoes", "red hat", "red hat"]),
        "date": pd.to_datetime(["2024-03-01", "2024-03-02", "2024-03-02", "2024-03-05"]),
        "in_title": [True, False, True, False],
        "weight": [2.5, 0.5, 1.0, 1.0],
        "bm25": [13.25, None, 4.0, 0.125],
        "url": ["https://a.example/1", "https://a.example/2", "https://a.example/3", None],
    },
    index=[4, 8, 15, 16],
)
table.to_csv("pandas.csv")
table.to_parquet("pandas.parquet")
