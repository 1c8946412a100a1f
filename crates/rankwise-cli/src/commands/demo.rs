use crate::progress::Progress;
use crate::{interrupt, output, table};
use anyhow::Result;
use clap::Args;
use rankwise::data::{Order, Synth, split};
use rankwise::experiment::{Comparison, Options, System};
use rankwise::learners::{LEARNERS, Task};
use rankwise::metrics::{Conventions, evaluate, parse};
use std::time::Instant;

/// Train every learner on embedded data and print a leaderboard, in under a minute.
#[derive(Args)]
pub(crate) struct Demo {
    /// The seed of the data and of the learners
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// For machines
    #[arg(long)]
    json: bool,
}

impl Demo {
    pub(crate) fn run(self) -> Result<()> {
        let data = Synth { seed: self.seed, ..Synth::demo() }.generate()?;
        let parts = split(&data, &[3.0, 1.0, 1.0], Order::Shuffled(self.seed))?;
        let [train, valid, test] = &parts[..] else { unreachable!("three shares give three parts") };
        let metrics = [parse("ndcg@10", &Conventions::default())?];
        output::note(format!(
            "made {} of about 40 documents with {} features; 60 % train, 20 % validate, 20 % test",
            output::count(data.query_count(), "query", "queries"),
            data.width()
        ));

        let mut systems = Vec::new();
        let mut seconds = Vec::new();
        for learner in LEARNERS {
            let task = Task { train, valid: Some(valid), metric: metrics[0].as_ref(), seed: self.seed };
            let begun = Instant::now();
            let fitted = interrupt::stoppable(|stop| {
                learner.fit(&toml::Table::new(), &task, &mut Progress::new(learner.card.name, stop))
            })?;
            seconds.push(begun.elapsed().as_secs_f64());
            let mut evaluation = evaluate(test, &fitted.model.scores(test)?, &metrics)?;
            systems.push(System { name: learner.card.name.into(), values: evaluation.values.remove(0) });
        }
        let mut blind = evaluate(test, &vec![0.0; test.len()], &metrics)?;
        systems.push(System { name: "(no ranking)".into(), values: blind.values.remove(0) });
        seconds.push(0.0);
        let options = Options { baseline: Some(systems.len() - 1), seed: self.seed, ..Options::default() };
        let comparison = Comparison::new(&systems, &test.parts().query_ids, &options)?;
        if self.json {
            return output::print_json(&serde_json::to_value(&comparison)?);
        }
        output::print(&leaderboard(&comparison, &seconds))
    }
}

fn leaderboard(comparison: &Comparison, seconds: &[f64]) -> String {
    let mut order: Vec<usize> = (0..comparison.systems.len()).collect();
    order.sort_by(|&a, &b| comparison.systems[b].mean.total_cmp(&comparison.systems[a].mean));
    let mut table = table::Columns::new(&["learner", ">NDCG@10", ">95% interval", ">p", ">seconds"]);
    for i in order {
        let system = &comparison.systems[i];
        let pair = comparison.pairs.iter().find(|p| p.system == i);
        table.row([
            system.name.clone(),
            table::four(system.mean),
            format!("{:.4} to {:.4}", system.interval.low, system.interval.high),
            pair.map_or(String::new(), |p| table::probability(p.p_permutation_holm)),
            pair.map_or(String::new(), |_| format!("{:.2}", seconds[i])),
        ]);
    }
    format!(
        "{}\n{} test queries; p against no ranking at all, by a paired randomisation test\n",
        table.render(),
        comparison.queries
    )
}
