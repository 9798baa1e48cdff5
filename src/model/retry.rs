//! Whether and when a request is sent again.
use std::time::Duration;

/// How often, and how long between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// How often a request is sent again, at most.
    pub most: u32,
    /// The first wait; each is twice the one before, up to `longest`.
    pub first: Duration,
    pub longest: Duration,
    /// How long a service may make us wait. It is believed up to here, and given up on above.
    pub patience: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            most: 5,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(8),
            patience: Duration::from_secs(60),
        }
    }
}

impl Retry {
    /// Whether `status` may be another one next time.
    pub fn helps(status: u16) -> bool {
        matches!(status, 408 | 409 | 429 | 500..=599)
    }

    /// Returns how long to wait before retry number `number`, from 0, when the service asks for
    /// `asked`; none when it is enough.
    pub fn wait(&self, number: u32, asked: Option<Duration>) -> Option<Duration> {
        if number >= self.most || asked.is_some_and(|asked| asked > self.patience) {
            return None;
        }
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(number)).min(self.longest);
        Some(asked.unwrap_or(doubled))
    }
}

/// Reads `retry-after-ms`, or else `retry-after` in seconds. A date, which nobody sends here, is
/// taken for nothing.
pub(super) fn asked(headers: &reqwest::header::HeaderMap) -> Option<Duration> {
    let number = |name: &str| {
        let number: f64 = headers.get(name)?.to_str().ok()?.trim().parse().ok()?;
        Some(number).filter(|number| *number >= 0.0)
    };
    let seconds = number("retry-after-ms").map(|ms| ms / 1_000.0).or_else(|| number("retry-after"));
    seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_limit_and_end() {
        let retry = Retry { most: 7, ..Retry::default() };
        let waits: Vec<_> = (0..9)
            .map_while(|number| retry.wait(number, None))
            .map(|wait| wait.as_millis())
            .collect();
        assert_eq!(waits, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
        let asked = Duration::from_millis(30);
        assert_eq!(retry.wait(3, Some(asked)), Some(asked));
        assert_eq!(retry.wait(7, Some(asked)), None);
        assert_eq!(retry.wait(0, Some(Duration::from_secs(3_600))), None);
    }

    #[test]
    fn what_the_service_asks_for_is_read() {
        let asked = |pairs: &[(&'static str, &'static str)]| {
            let mut headers = reqwest::header::HeaderMap::new();
            for (name, value) in pairs {
                headers.insert(*name, value.parse().unwrap());
            }
            asked(&headers)
        };
        assert_eq!(asked(&[("retry-after", "2")]), Some(Duration::from_secs(2)));
        let both = [("retry-after", "2"), ("retry-after-ms", "150")];
        assert_eq!(asked(&both), Some(Duration::from_millis(150)));
        for odd in ["-1", "NaN", "inf", "soon", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(asked(&[("retry-after", odd)]), None, "{odd}");
        }
    }

    #[test]
    fn only_what_may_change_is_tried_again() {
        for status in [408, 409, 429, 500, 503, 529] {
            assert!(Retry::helps(status), "{status}");
        }
        for status in [200, 301, 400, 401, 403, 404, 413, 422] {
            assert!(!Retry::helps(status), "{status}");
        }
    }
}
