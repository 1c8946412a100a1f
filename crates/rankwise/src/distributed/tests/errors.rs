//! Workers and engines that do what they never should.

use super::*;

/// The error of a training in which worker 1 does something else.
fn error_with(other: impl Fn(&dyn Exchange) -> Result<String> + Send + Sync + 'static) -> String {
    let program: Program = Arc::new(move |_, exchange, watch| match exchange.worker() {
        Some(1) => other(&*exchange),
        _ => Ok(mixed(&rounds(&[], &*exchange, watch)?).to_string()),
    });
    let begun = Instant::now();
    let error = drive(InMemory::new(2, program)).unwrap_err().to_string();
    assert!(begun.elapsed() < LIMITS.reply, "{error}");
    error
}

#[test]
fn errors_and_panics_of_a_worker_are_those_of_the_training() {
    let error = error_with(|_| Err(Error::data("there is no such file")));
    assert_eq!(error, "worker 1: there is no such file");
    let error = error_with(|exchange| {
        ask(exchange, |_| panic!("index {} out of range", 7), |_| 0);
        unreachable!()
    });
    assert!(
        error.starts_with("worker 1: the training failed in a way that it never should (index 7 out"),
        "{error}"
    );
    let error = error_with(|_| std::panic::panic_any(3.5));
    assert!(error.contains("(no message)"), "{error}");
}

#[test]
fn a_worker_elsewhere_in_the_program_ends_the_training() {
    let error = error_with(|exchange| Ok(ask(exchange, |worker| worker, |_| 0).to_string()));
    assert!(
        error.starts_with("worker 1 has come to crates/rankwise/src/distributed/tests/errors.rs:"),
        "{error}"
    );
    let error = error_with(|_| Ok("the end".into()));
    assert!(error.starts_with("worker 1 has come to its end of the program"), "{error}");
    let error = error_with(|exchange| {
        rounds(&[], exchange, &mut Silent::default())?;
        Ok("another model".into())
    });
    assert_eq!(error, "worker 1 ended with another model than the driver; please report this as a defect");
    let error = error_with(|exchange| {
        rounds(&[], exchange, &mut Silent::default())?;
        Ok(ask(exchange, |worker| worker, |_| 0).to_string())
    });
    assert!(error.contains("and the driver to its end"), "{error}");
}

#[test]
fn a_panic_of_the_driver_passes_through() {
    let mut driver = Driver::new(InMemory::new(2, rounds_program())).with_limits(LIMITS);
    let run = || {
        driver.run(
            Vec::new(),
            Some(1),
            &mut Silent::default(),
            |_, _| panic!("a defect"),
            |_: &()| String::new(),
        )
    };
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
    assert_eq!(*panic.downcast::<&str>().unwrap(), "a defect");
}

#[test]
fn without_workers_there_is_no_training() {
    let error = drive(InMemory::new(0, rounds_program())).unwrap_err().to_string();
    assert!(error.starts_with("there are no workers"), "{error}");
}

/// Replies that are not those of a worker like the driver.
struct Strange(Vec<u8>);

impl Engine for Strange {
    fn workers(&self) -> usize {
        1
    }

    fn deliver(&mut self, _: &[(usize, &[u8])], _: Duration) -> Result<Vec<(usize, Delivery)>> {
        Ok(vec![(0, Delivery::Reply(self.0.clone()))])
    }

    fn restart(&mut self, _: usize) -> Result<()> {
        Ok(())
    }
}

#[test]
fn a_stranger_is_refused() {
    let strange = |bytes: Vec<u8>| {
        let mut driver = Driver::new(Strange(bytes)).with_limits(LIMITS);
        drive_from(&mut driver, &[], &mut Silent::default()).unwrap_err().to_string()
    };
    assert!(strange(vec![200; 10]).starts_with("worker 0 sent a reply that cannot be read"));
    // The greeting of a worker whose last result is another.
    let mut greeting = Worker::with_program(rounds_program()).reply(b"");
    let last = greeting.len() - 2;
    greeting[last] ^= 1;
    let error = strange(greeting);
    assert!(error.starts_with("worker 0 computes sums of products differently"), "{error}");
}

#[test]
fn an_engine_that_does_not_reply_to_a_worker_has_lost_it() {
    struct Silence;
    impl Engine for Silence {
        fn workers(&self) -> usize {
            2
        }
        fn deliver(&mut self, _: &[(usize, &[u8])], _: Duration) -> Result<Vec<(usize, Delivery)>> {
            Ok(Vec::new())
        }
        fn restart(&mut self, _: usize) -> Result<()> {
            Ok(())
        }
    }
    let mut driver = Driver::new(Silence).with_limits(LIMITS);
    let error = drive_from(&mut driver, &[], &mut Silent::default()).unwrap_err().to_string();
    assert!(
        error.starts_with("worker 0 was lost 3 times") && error.ends_with("there was no reply"),
        "{error}"
    );
}
