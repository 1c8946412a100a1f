//! The lists that take clicks, and sums over those that do not any more.

use super::*;

fn session(id: usize, ranker: &str) -> Session {
    Session {
        id: id.to_string(),
        query: "q".to_owned(),
        ranker: Some(ranker.to_owned()),
        shown: vec!["a".to_owned(), "b".to_owned()],
        time: Some(5.0),
        ..Session::default()
    }
}

fn clicked(id: usize, doc: &str) -> Clicked {
    Clicked { session: id.to_string(), clicks: vec![Click { doc: doc.to_owned(), time: None }] }
}

fn totals(lists: &OpenLists) -> Totals {
    let mut totals = lists.closed.clone();
    lists.by_id.values().for_each(|list| totals.add(list));
    totals
}

#[test]
fn lists_are_closed_when_enough_came_after_them_and_still_count() {
    let mut lists = OpenLists::default();
    let length = OPEN_BYTES / 10;
    for id in 0..25 {
        lists.add(&session(id, if id % 5 == 0 { "x" } else { "y" }), length);
        if id % 2 == 0 {
            lists.click(&clicked(id, "b"), 10);
            lists.click(&clicked(id, "b"), 10);
        }
    }
    assert!(lists.by_id.len() <= 10 && lists.by_id.contains_key(&id_hash("24")));
    let reported = |doc: &str| vec![ReportedClick { doc: doc.to_owned(), time: Some(1.0) }];
    assert_eq!(lists.check("0", reported("a")).unwrap_err().status, 404);
    assert_eq!(lists.check("24", reported("c")).unwrap_err().status, 422);
    assert_eq!(lists.check("24", reported("a")).unwrap()[0].time, Some(6.0));
    let by_ranker = totals(&lists).by_ranker;
    // All clicks are on the second of two documents.
    let by_rank = |shown, clicked| {
        let mut ranks = [(0, 0); RANKS];
        (ranks[0].0, ranks[1]) = (shown, (shown, clicked));
        ranks
    };
    // 5 of 25 are of x; of these, 0, 10 and 20 were clicked.
    assert_eq!(by_ranker["x"], RankerClicks { sessions: 5, clicked: 3, clicks: 3, by_rank: by_rank(5, 3) });
    assert_eq!(
        by_ranker["y"],
        RankerClicks { sessions: 20, clicked: 10, clicks: 10, by_rank: by_rank(20, 10) }
    );
    let (rate, interval) = by_ranker["x"].rate();
    assert!(rate == 0.6 && interval.low > 0.2 && interval.high < 0.9);
}

#[test]
fn a_list_has_a_limited_number_of_clicks() {
    let mut lists = OpenLists::default();
    lists.add(&session(1, "x"), 100);
    let many = vec![ReportedClick { doc: "a".to_owned(), time: None }; MAX_CLICKS + 1];
    assert_eq!(lists.check("1", many.clone()).unwrap_err().status, 422);
    let clicks = lists.check("1", many[1..].to_vec()).unwrap();
    lists.click(&Clicked { session: "1".to_owned(), clicks }, 100);
    assert_eq!(lists.check("1", many[..1].to_vec()).unwrap_err().status, 422);
    assert_eq!(totals(&lists).by_ranker["x"].clicks, 1);
}

#[test]
fn a_list_that_could_not_be_written_was_never_shown() {
    let mut lists = OpenLists::default();
    lists.add(&session(1, "x"), 100);
    lists.forget("1");
    assert_eq!(lists.check("1", Vec::new()).unwrap_err().status, 404);
    assert!(totals(&lists).by_ranker.is_empty());
}

#[test]
fn further_pages_count_at_their_ranks() {
    let mut lists = OpenLists::default();
    lists.add(&Session { positions: Some(vec![10, 11]), ..session(1, "x") }, 100);
    lists.click(&clicked(1, "a"), 100);
    lists.click(&clicked(1, "b"), 100);
    let by_rank = totals(&lists).by_ranker["x"].by_rank;
    assert_eq!((by_rank[8], by_rank[9]), ((0, 0), (1, 1)));
}
