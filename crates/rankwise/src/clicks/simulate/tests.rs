//! Simulated clicks against the probabilities they are drawn from.

use super::*;
use crate::clicks::ClickCounts;
use crate::data::Synth;

fn data() -> Dataset {
    Synth { queries: Some(6), documents: Some(12), ..Synth::demo() }.generate().unwrap()
}

fn rankers(data: &Dataset) -> [SimulatedRanker; 2] {
    [0, 1].map(|column| SimulatedRanker {
        name: format!("f{column}"),
        scores: (0..data.len()).map(|i| f64::from(data.row(i).get(column))).collect(),
    })
}

#[test]
fn clicks_are_as_frequent_as_they_should_be() {
    let (data, noise, depth) = (data(), 0.2, 5);
    let highest = data.labels().iter().copied().fold(0.0, f32::max);
    let users = [
        SimulatedUser::PositionBased { eta: 0.7 },
        SimulatedUser::Cascade,
        SimulatedUser::DependentClick { continuation: 0.4 },
    ];
    for user in users {
        let simulation = Simulation {
            user,
            noise,
            depth,
            sessions: 4000,
            randomization: Randomization::None,
            ..Simulation::default()
        };
        let rankers = &rankers(&data)[..1];
        let counts: ClickCounts =
            simulation.sessions(&data, rankers).unwrap().collect::<Vec<_>>().iter().collect();
        for query in data.queries() {
            let mut order: Vec<usize> = (0..query.len()).collect();
            let score = |i: usize| rankers[0].scores[query.range()][i] + 0.0;
            let id = |i: usize| query.document_id(i).unwrap_or_default();
            order.sort_by(|&a, &b| score(b).total_cmp(&score(a)).then_with(|| id(a).cmp(id(b))));
            let mut examined = 1.0;
            for (place, &document) in order.iter().take(depth).enumerate() {
                let gain =
                    (f64::from(query.labels()[document]).exp2() - 1.0) / (f64::from(highest).exp2() - 1.0);
                let attractive = 0.2 + 0.8 * gain;
                let p = match user {
                    SimulatedUser::PositionBased { eta } => attractive * ((place + 1) as f64).powf(-eta),
                    _ => attractive * examined,
                };
                examined *= match user {
                    SimulatedUser::DependentClick { continuation } => 1.0 - attractive * (1.0 - continuation),
                    _ => 1.0 - attractive,
                };
                let cell = counts.cell(query.id(), &document_id(query, document), place as u32 + 1);
                assert_eq!(cell.shown, 4000);
                let deviation = (p * (1.0 - p) / 4000.0).sqrt();
                assert!(
                    (cell.click_through() - p).abs() < 4.5 * deviation + 1e-9,
                    "{user} {place}: {p} {cell:?}"
                );
            }
        }
    }
}

#[test]
fn a_session_depends_on_its_query_and_number_alone() {
    let data = data();
    let simulation = Simulation {
        sessions: 5,
        features: true,
        randomization: Randomization::Swap,
        ..Simulation::default()
    };
    let all: Vec<Session> = simulation.sessions(&data, &rankers(&data)).unwrap().collect();
    let reversed = data.select_queries(&[5, 4, 3, 2, 1, 0]);
    let mut again: Vec<Session> = simulation.sessions(&reversed, &rankers(&reversed)).unwrap().collect();
    let fewer = Simulation { sessions: 3, ..simulation.clone() };
    let few: Vec<Session> = fewer.sessions(&data, &rankers(&data)).unwrap().collect();
    again.sort_by_key(|session| all.iter().position(|other| other.id == session.id));
    assert_eq!(all, again);
    assert!(few.iter().all(|session| all.contains(session)));
    let other: Vec<Session> =
        Simulation { seed: 2, ..simulation }.sessions(&data, &rankers(&data)).unwrap().collect();
    assert_ne!(all, other);
    for session in &all {
        let query = data.queries().find(|query| query.id() == session.query).unwrap();
        let place = (0..query.len()).find(|&i| document_id(query, i) == session.shown[2]).unwrap();
        assert_eq!(session.features.as_ref().unwrap()[2][0], query.row(place).get(0));
    }
}

#[test]
fn swaps_and_shuffles_do_what_they_say() {
    let data = data();
    let ranker = &rankers(&data)[..1];
    let lists = |randomization| -> Vec<Session> {
        let simulation = Simulation { sessions: 300, depth: 4, randomization, ..Simulation::default() };
        simulation.sessions(&data, ranker).unwrap().collect()
    };
    let plain = lists(Randomization::None);
    let mut exchanged = 0;
    for (session, plain) in lists(Randomization::Swap).iter().zip(&plain) {
        let [first, other] = session.swap.unwrap();
        assert!(first == 1 && (2..=4).contains(&other));
        let mut swapped = plain.shown.clone();
        swapped.swap(0, other as usize - 1);
        exchanged += usize::from(session.shown == swapped);
        assert!(session.shown == swapped || session.shown == plain.shown);
    }
    assert!((exchanged as f64 / plain.len() as f64 - 0.5).abs() < 0.06, "{exchanged}");
    let counts: ClickCounts = lists(Randomization::Shuffle).iter().collect();
    let query = &plain[0];
    for document in &query.shown {
        for rank in 1..=4 {
            assert!(counts.cell(&query.query, document, rank).shown > 40);
        }
    }
}

#[test]
fn wrong_simulations_are_refused() {
    let data = data();
    let refused = |simulation: Simulation, rankers: &[SimulatedRanker]| {
        simulation.sessions(&data, rankers).err().unwrap().to_string()
    };
    let rankers = rankers(&data);
    assert!(refused(Simulation { noise: 1.5, ..Simulation::default() }, &rankers).contains("`noise` is 1.5"));
    assert!(refused(Simulation { depth: 0, ..Simulation::default() }, &rankers).contains("`depth`"));
    assert!(refused(Simulation::default(), &[]).contains("at least one ranker"));
    let short = SimulatedRanker { name: "short".into(), scores: vec![1.0] };
    assert!(refused(Simulation::default(), &[short]).contains("`short` has 1 scores"));
    for text in ["pbm:eta=1", "cascade", "dcm:continue=0.6"] {
        assert_eq!(SimulatedUser::parse(text).unwrap().to_string(), text);
    }
    for text in ["pbm:eta=x", "pbm:gamma=1", "cascade:eta=1", "dcm:continue=2", "pmb"] {
        assert!(SimulatedUser::parse(text).is_err(), "{text}");
    }
}

#[test]
fn interleaved_lists_are_credited_and_the_better_ranker_wins() {
    let data = data();
    let by_label = data.labels().iter().map(|label| f64::from(*label)).collect();
    let better = SimulatedRanker { name: "better".into(), scores: by_label };
    let [worse, other] = rankers(&data);
    let rankers = [worse, better];
    for interleaving in [Interleaving::TeamDraft, Interleaving::Probabilistic { steepness: 3.0 }] {
        let simulation =
            Simulation { interleaving: Some(interleaving), sessions: 200, ..Simulation::default() };
        let sessions: Vec<Session> = simulation.sessions(&data, &rankers).unwrap().collect();
        assert!(sessions.iter().all(|session| session.ranker.is_none() && session.interleaved.is_some()));
        let result = crate::clicks::interleave::analyze(&sessions, 0.95).unwrap();
        assert_eq!((result.sessions, result.rankers[1].as_str()), (1200, "better"));
        assert!(
            result.win_rate < 0.4 && result.p < 1e-3 && result.credit[1] > result.credit[0],
            "{result:?}"
        );
    }
    let three = [rankers[0].clone(), rankers[1].clone(), other];
    let interleaving = Some(Interleaving::TeamDraft);
    let refused = |simulation: Simulation, rankers: &[SimulatedRanker]| {
        simulation.sessions(&data, rankers).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let message = refused(Simulation { interleaving, ..Simulation::default() }, &three);
    assert!(message.contains("two rankers can be interleaved, not 3"), "{message}");
    let randomization = Randomization::Swap;
    let message = refused(Simulation { interleaving, randomization, ..Simulation::default() }, &rankers);
    assert!(message.contains("random already"), "{message}");
}
