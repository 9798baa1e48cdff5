//! What a model's answers cost: tokens, and money by a table of prices. Pure.
use serde::{Deserialize, Serialize};

/// Tokens of one answer, or of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// All tokens that were read, those of the prompt cache too.
    #[serde(rename = "input_tokens")]
    pub input: u64,
    #[serde(rename = "output_tokens")]
    pub output: u64,
    /// Those of the input that came from the service's prompt cache.
    #[serde(rename = "cached_tokens", default)]
    pub cached: u64,
    /// Those of the input that were written to it.
    #[serde(rename = "written_tokens", default)]
    pub written: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.input += more.input;
        self.output += more.output;
        self.cached += more.cached;
        self.written += more.written;
    }
}

impl Usage {
    /// Everything that was read or written.
    pub fn tokens(self) -> u64 {
        self.input + self.output
    }
}

/// What a model costs, in US dollars a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input: f64,
    pub output: f64,
    /// Input from the prompt cache; as other input where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
    /// Input that is written to the prompt cache; as other input where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<f64>,
}

impl Price {
    /// Returns what these tokens cost, in US dollars.
    pub fn of(&self, usage: Usage) -> f64 {
        let plain = usage.input.saturating_sub(usage.cached).saturating_sub(usage.written);
        let parts = [
            (plain, self.input),
            (usage.cached, self.cached.unwrap_or(self.input)),
            (usage.written, self.written.unwrap_or(self.input)),
            (usage.output, self.output),
        ];
        parts.iter().map(|(tokens, price)| *tokens as f64 * price).sum::<f64>() / 1e6
    }
}

/// Guesses how many tokens a text is: a token is rarely less than three bytes, and a request is not
/// to be larger than was reckoned.
pub fn tokens_of(text: &str) -> u64 {
    (text.len() as u64).div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_token_has_its_price() {
        let price = Price { input: 3.0, output: 15.0, cached: Some(0.3), written: Some(3.75) };
        let usage = Usage { input: 1_000_000, output: 100_000, cached: 800_000, written: 100_000 };
        let dollars = price.of(usage);
        assert!((dollars - (0.3 + 0.24 + 0.375 + 1.5)).abs() < 1e-9, "{dollars}");
        let plain = Price { cached: None, written: None, ..price };
        assert!((plain.of(usage) - 4.5).abs() < 1e-9);
        assert_eq!(price.of(Usage::default()), 0.0);
    }

    #[test]
    fn usages_add_up() {
        let mut sum = Usage { input: 1, output: 2, cached: 3, written: 4 };
        sum += Usage { input: 10, output: 20, cached: 30, written: 40 };
        assert_eq!(sum, Usage { input: 11, output: 22, cached: 33, written: 44 });
        assert_eq!(sum.tokens(), 33);
    }
}
