//! Names that a mistyped one may have meant.

/// The names, nearest first, at most `most` of them.
pub(super) fn nearest<'a>(wanted: &str, names: &'a [String], most: usize) -> Vec<&'a str> {
    let mut ranked: Vec<(usize, &str)> = names
        .iter()
        .map(|name| (distance(wanted, name), name.as_str()))
        .collect();
    // Stable, so that names of one distance keep their order.
    ranked.sort_by_key(|(distance, _)| *distance);
    ranked
        .into_iter()
        .take(most)
        .map(|(_, name)| name)
        .collect()
}

/// How many single changes lead from one to the other; a name that is part of the other, as a plain
/// name is of a mangled one, counts as near.
fn distance(a: &str, b: &str) -> usize {
    if a == b {
        return 0;
    }
    if !a.is_empty() && !b.is_empty() && (a.contains(b) || b.contains(a)) {
        return 1;
    }
    // Names are short where a person types them; of machine-made ones the beginning decides.
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, y) in row.iter_mut().skip(1).zip(&b) {
            let change = diagonal + usize::from(x != y);
            diagonal = *cell;
            *cell = change.min(diagonal + 1).min(left + 1);
            left = *cell;
        }
    }
    row.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("kitten", "sitting", 3)]
    #[case("", "abc", 3)]
    #[case("abc", "", 3)]
    #[case("saxpy", "sapxy", 2)]
    #[case("scale", "_Z5scaleIfEvPT_", 1)]
    fn the_distance_counts_changes(#[case] a: &str, #[case] b: &str, #[case] changes: usize) {
        assert_eq!(distance(a, b), changes);
    }

    #[test]
    fn the_nearest_name_comes_first() {
        let names = ["gelu", "saxpy", "sax", "exp"].map(str::to_owned);
        assert_eq!(nearest("sapxy", &names, 2), ["saxpy", "sax"]);
    }
}
