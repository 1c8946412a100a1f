//! The output of trec_eval: its names of metrics, and a line of three columns for each value.

use super::Evaluation;

/// A metric's name here, without a cut, and what trec_eval calls it without and with one.
const NAMES: &[(&str, Option<&str>, Option<&str>)] = &[
    ("ndcg", Some("ndcg"), Some("ndcg_cut_")),
    ("map", Some("map"), Some("map_cut_")),
    ("mrr", Some("recip_rank"), None),
    ("p", Some("set_P"), Some("P_")),
    ("recall", Some("set_recall"), Some("recall_")),
    ("f1", Some("set_F"), None),
    ("r-precision", Some("Rprec"), None),
    ("success", None, Some("success_")),
    ("bpref", Some("bpref"), None),
    ("inf-ap", Some("infAP"), None),
    ("11pt-avg", Some("11pt_avg"), None),
    ("set-map", Some("set_map"), None),
    ("set-relative-p", Some("set_relative_P"), None),
    (QUERIES, Some("num_q"), None),
    ("num-ret", Some("num_ret"), None),
    ("num-rel", Some("num_rel"), None),
    ("num-rel-ret", Some("num_rel_ret"), None),
];

/// The number of queries is shown for all of them only.
const QUERIES: &str = "num-q";

/// What trec_eval calls the metric with this canonical name; the name itself if trec_eval does not have it, or if it
/// has options.
///
/// ```
/// use rankwise::metrics::trec_eval_name;
/// assert_eq!(trec_eval_name("ndcg@10"), "ndcg_cut_10");
/// assert_eq!(trec_eval_name("iprec@0.1"), "iprec_at_recall_0.10");
/// assert_eq!(trec_eval_name("err@20"), "err@20");
/// ```
pub fn trec_eval_name(metric: &str) -> String {
    let (name, cut) = metric.split_once('@').map_or((metric, None), |(name, cut)| (name, Some(cut)));
    let known = NAMES.iter().find(|known| known.0 == name);
    match (known, cut, name) {
        (_, Some(cut), "iprec") => {
            cut.parse().map_or(metric.to_owned(), |level: f64| format!("iprec_at_recall_{level:.2}"))
        }
        (Some((_, _, Some(prefix))), Some(cut), _) if !cut.contains(':') => format!("{prefix}{cut}"),
        (Some((_, Some(whole), _)), None, _) => (*whole).to_owned(),
        _ => metric.to_owned(),
    }
}

impl Evaluation {
    /// The values as trec_eval prints them: a metric, a query or `all`, and a value on each line. With `per_query`, the
    /// values of every query come first, as with its option `-q`. Values that are skipped are left out.
    pub fn as_trec_eval(&self, per_query: bool) -> String {
        let names: Vec<String> = self.metrics.iter().map(|name| trec_eval_name(name)).collect();
        let mut lines = String::new();
        for (query, id) in self.query_ids.iter().enumerate().filter(|_| per_query) {
            for (metric, name) in names.iter().enumerate().filter(|(m, _)| self.metrics[*m] != QUERIES) {
                lines += &self.trec_eval_line(metric, name, id, self.values[metric][query]);
            }
        }
        for (metric, name) in names.iter().enumerate() {
            let value = self.total(metric).or_else(|| self.mean(metric));
            lines += &self.trec_eval_line(metric, name, "all", value);
        }
        lines
    }

    fn trec_eval_line(&self, metric: usize, name: &str, query: &str, value: Option<f64>) -> String {
        match value {
            None => String::new(),
            Some(count) if self.totals[metric] => format!("{name:<22}\t{query}\t{count:.0}\n"),
            Some(value) => format!("{name:<22}\t{query}\t{value:6.4}\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Conventions, DocumentIds, JudgedList, evaluate_lists, parse, parse_list};

    #[test]
    fn the_names_of_trec_eval_stand_for_the_metrics_they_are_shown_for() {
        let conventions = Conventions::default();
        let cut =
            |name: &str| (parse(&format!("{name}@7"), &conventions).is_ok()).then(|| format!("{name}@7"));
        let metrics = NAMES.iter().flat_map(|known| [Some(known.0.to_owned()), cut(known.0)]).flatten();
        for name in metrics.chain(["iprec@0.35".into(), "iprec@1".into()]) {
            let theirs = trec_eval_name(&name);
            assert_eq!(parse(&theirs, &conventions).unwrap().name(), name, "{theirs}");
        }
        assert_eq!(trec_eval_name("p@5:threshold=2"), "p@5:threshold=2");
        assert_eq!(trec_eval_name("mrr@5"), "mrr@5");
        assert_eq!(trec_eval_name("iprec@0.5:threshold=2"), "iprec@0.5:threshold=2");
    }

    /// By hand: the relevant document is at rank 2 of 2 in the first query, and the second has none.
    #[test]
    fn values_are_on_lines_of_three_columns() {
        let list = |id, labels, scores| JudgedList {
            id,
            labels,
            scores,
            document_ids: DocumentIds::Absent,
            weight: 1.0,
        };
        let lists = [list("q1", &[0.0, 1.0, 0.0], &[2.0, 1.0]), list("q2", &[0.0], &[1.0])];
        let metrics = parse_list("recip_rank,num_q,num_ret,P_5:empty=skip,P_5", &Conventions::default());
        let evaluation = evaluate_lists(&lists, &metrics.unwrap()).unwrap();
        let expected = "recip_rank            \tq1\t0.5000\n\
            num_ret               \tq1\t2\n\
            p@5:empty=skip        \tq1\t0.2000\n\
            P_5                   \tq1\t0.2000\n\
            recip_rank            \tq2\t0.0000\n\
            num_ret               \tq2\t1\n\
            P_5                   \tq2\t0.0000\n";
        let all = "recip_rank            \tall\t0.2500\n\
            num_q                 \tall\t2\n\
            num_ret               \tall\t3\n\
            p@5:empty=skip        \tall\t0.2000\n\
            P_5                   \tall\t0.1000\n";
        assert_eq!(evaluation.as_trec_eval(true), format!("{expected}{all}"));
        assert_eq!(evaluation.as_trec_eval(false), all);
    }
}
