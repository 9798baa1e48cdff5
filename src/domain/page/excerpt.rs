//! What of a page's Markdown answers a query: whole where it is short, else the parts that have its
//! words. Pure.

use crate::domain::page::text::cap;

/// Returns at most about `most` characters of `markdown`: all of it, or the blocks that fit `query`
/// best, in their order, each with its heading; what was left out is counted.
pub fn excerpt(markdown: &str, query: &str, most: usize) -> String {
    if markdown.chars().count() <= most {
        return markdown.to_owned();
    }
    let blocks = blocks(markdown);
    let words = words(query);
    let mut ranked: Vec<usize> = (0..blocks.len()).collect();
    let score = |at: &usize| fit(&blocks[*at], &words);
    ranked.sort_by_key(|at| std::cmp::Reverse(score(at)));
    let (mut kept, mut size) = (Vec::new(), 0);
    for &at in &ranked {
        let long = blocks[at].text.chars().count();
        if size + long > most {
            continue;
        }
        size += long;
        kept.push(at);
    }
    if let Some(best) = ranked.first().filter(|_| kept.is_empty()) {
        // Not even one part fits: its beginning is better than nothing.
        let cut = cap(blocks[*best].text.trim_end(), most);
        return format!("{cut}\n… the rest of {} parts is left out\n", blocks.len());
    }
    kept.sort_unstable();
    written(&blocks, &kept)
}

/// Lines that belong together, below a heading.
struct Block<'a> {
    heading: &'a str,
    text: &'a str,
}

fn written(blocks: &[Block<'_>], kept: &[usize]) -> String {
    let (mut text, mut heading, mut last) = (String::new(), "", None);
    let mut left_out = 0;
    for at in kept {
        let skipped = at - last.map_or(0, |last: usize| last + 1);
        left_out += skipped;
        if skipped > 0 {
            text.push_str("…\n");
        }
        let block = &blocks[*at];
        if block.heading != heading && !block.text.starts_with(block.heading) {
            text.push_str(&format!("{}\n", block.heading));
        }
        heading = block.heading;
        text.push_str(block.text);
        if !block.text.ends_with('\n') {
            text.push('\n');
        }
        last = Some(*at);
    }
    left_out += blocks.len() - last.map_or(0, |last| last + 1);
    if left_out > 0 {
        text.push_str(&format!("… {left_out} of {} parts are left out\n", blocks.len()));
    }
    text
}

/// Parts at blank lines and headings; long ones at their lines, so that a table gives its rows.
fn blocks(markdown: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let (mut heading, mut start, mut at) = ("", 0, 0);
    for line in markdown.split_inclusive('\n') {
        let next = at + line.len();
        if line.starts_with('#') {
            if start < at {
                blocks.push(Block { heading, text: &markdown[start..at] });
            }
            (heading, start) = (line.trim_end(), at);
        } else if line.trim().is_empty() || next - start > 600 {
            blocks.push(Block { heading, text: &markdown[start..next] });
            start = next;
        }
        at = next;
    }
    if start < at {
        blocks.push(Block { heading, text: &markdown[start..at] });
    }
    blocks
}

fn fit(block: &Block<'_>, words: &[String]) -> usize {
    let (text, heading) = (block.text.to_lowercase(), block.heading.to_lowercase());
    let found = |word: &&String| text.contains(word.as_str());
    let above = words.iter().filter(|word| heading.contains(word.as_str())).count();
    words.iter().filter(found).count() * 2 + above
}

fn words(query: &str) -> Vec<String> {
    let lower = query.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| w.chars().count() > 1);
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_pages_are_given_whole() {
        assert_eq!(excerpt("# A\n\ntext\n", "nothing of it", 100), "# A\n\ntext\n");
    }

    #[test]
    fn of_long_pages_the_parts_that_fit_are_given() {
        let filler = "words that say nothing much\n\n".repeat(60);
        let page = format!(
            "# Shop\n\n{filler}## Kettles\n\nThe red kettle costs 39 €.\n\n{filler}## Returns\n\nWithin 30 days.\n\n{filler}"
        );
        let got = excerpt(&page, "price of the red kettle", 120);
        assert!(got.contains("The red kettle costs 39 €."), "{got}");
        assert!(got.chars().count() < 260, "{got}");
        assert!(got.contains("parts are left out"), "{got}");
        let table = (0..400).map(|n| format!("| row {n} | {} |\n", n * 7)).collect::<String>();
        let row = excerpt(&table, "row 312", 700);
        assert!(row.contains("| row 312 | 2184 |"), "{row}");
    }

    #[test]
    fn a_part_that_is_too_long_is_begun() {
        let page = "The red kettle costs 39 € ".repeat(9);
        let got = excerpt(&page, "kettle", 20);
        assert!(got.starts_with("The red kettle cost…\n… the rest"), "{got}");
    }

    #[test]
    fn nothing_of_a_character_is_cut() {
        let page = "긴 글입니다. ".repeat(300);
        assert!(excerpt(&page, "글", 50).chars().count() < 100);
    }
}
