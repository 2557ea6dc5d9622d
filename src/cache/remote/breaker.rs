//! Leaving alone what has failed.

use std::time::{Duration, Instant};

use crate::sync::Mutex;

/// The first rest; each failure after it doubles the next.
const SHORTEST: Duration = Duration::from_secs(1);

/// Says whether something that may fail is worth a try.
#[derive(Debug)]
pub(super) struct Breaker {
    longest: Duration,
    /// Guards when the next try may be made, and who makes it.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    rest: Option<Rest>,
}

#[derive(Debug)]
struct Rest {
    until: Instant,
    length: Duration,
    /// Whether a try is being made, whose outcome all others wait for.
    trying: bool,
}

impl Breaker {
    pub(super) fn new(longest: Duration) -> Self {
        Breaker {
            longest,
            state: Mutex::default(),
        }
    }

    /// Whether to try; who is told so says how it went.
    pub(super) fn allows(&self, now: Instant) -> bool {
        match &mut self.state.lock().rest {
            None => true,
            Some(rest) if now < rest.until || rest.trying => false,
            Some(rest) => {
                rest.trying = true;
                true
            }
        }
    }

    pub(super) fn succeeded(&self) {
        self.state.lock().rest = None;
    }

    pub(super) fn failed(&self, now: Instant) {
        let mut state = self.state.lock();
        let length = match &state.rest {
            // Several calls were on their way when the first failed, and say nothing new.
            Some(rest) if !rest.trying => return,
            Some(rest) => rest.length.saturating_mul(2).min(self.longest),
            None => SHORTEST.min(self.longest),
        };
        state.rest = Some(Rest {
            until: now + length,
            length,
            trying: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn after_a_failure_one_tries_again_once_it_has_rested() {
        let (breaker, start) = (Breaker::new(seconds(30)), Instant::now());
        assert!(breaker.allows(start));
        breaker.failed(start);
        assert!(!breaker.allows(start));
        assert!(!breaker.allows(start + seconds(1) - Duration::from_nanos(1)));
        assert!(breaker.allows(start + seconds(1)), "one tries");
        assert!(!breaker.allows(start + seconds(1)), "and no other");
        breaker.succeeded();
        assert!(breaker.allows(start + seconds(1)));
        assert!(breaker.allows(start + seconds(1)));
    }

    #[test]
    fn each_rest_is_twice_the_last_up_to_the_longest() {
        let (breaker, mut now) = (Breaker::new(seconds(5)), Instant::now());
        breaker.failed(now);
        for length in [1, 2, 4, 5, 5] {
            assert!(!breaker.allows(now + seconds(length) - Duration::from_nanos(1)));
            now += seconds(length);
            assert!(breaker.allows(now), "{length}");
            breaker.failed(now);
        }
        now += seconds(5);
        assert!(breaker.allows(now));
        breaker.succeeded();
        breaker.failed(now);
        assert!(breaker.allows(now + seconds(1)), "a success starts it anew");
    }

    #[test]
    fn calls_that_were_on_their_way_do_not_make_it_longer() {
        let (breaker, start) = (Breaker::new(seconds(30)), Instant::now());
        for _ in 0..10 {
            breaker.failed(start);
        }
        assert!(breaker.allows(start + seconds(1)));
    }
}
