//! Debug metadata that leads back to itself, on which libNVVM spins for ever.
//!
//! Only chains that must end are followed: scopes, places of inlining, and from one derived type to
//! another. A structure that reaches itself through a pointer is as it should be.

use std::collections::HashMap;

use super::info::DebugCycle;

/// The links that are followed, each kind by itself: a chain changes its kind nowhere.
#[derive(Debug, Default)]
pub(super) struct Links {
    scopes: Vec<(u64, u64)>,
    bases: Vec<(u64, u64)>,
    /// The derived types, sorted by number when it comes to look.
    derived: Vec<u64>,
}

impl Links {
    /// What lies around a node: its scope, or where it was inlined.
    pub(super) fn scope(&mut self, from: u64, to: u64) {
        self.scopes.push((from, to));
    }

    /// The base of a derived type.
    pub(super) fn base(&mut self, from: u64, to: u64) {
        self.bases.push((from, to));
    }

    /// That a node is a derived type.
    pub(super) fn derived(&mut self, node: u64) {
        self.derived.push(node);
    }

    /// A chain that comes back to where it began.
    pub(super) fn cycle(&self) -> Option<DebugCycle> {
        if let Some(nodes) = find(&self.scopes) {
            return Some(DebugCycle::new(nodes, "scope and inlinedAt"));
        }
        let derived: std::collections::HashSet<u64> = self.derived.iter().copied().collect();
        let between: Vec<(u64, u64)> = self
            .bases
            .iter()
            .copied()
            .filter(|(from, to)| derived.contains(from) && derived.contains(to))
            .collect();
        find(&between).map(|nodes| DebugCycle::new(nodes, "baseType"))
    }
}

fn find(links: &[(u64, u64)]) -> Option<Vec<u64>> {
    // A link to a node that was there before is most of them, and then there is nothing to find.
    if links.iter().all(|(from, to)| to < from) {
        return None;
    }
    let mut links = links.to_vec();
    links.sort_unstable();
    let mut done: HashMap<u64, bool> = HashMap::new();
    for &(start, _) in &links {
        let mut path = vec![(start, 0_usize)];
        if done.contains_key(&start) {
            continue;
        }
        done.insert(start, false);
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            let first = links.partition_point(|(from, _)| *from < at);
            let link = links.get(first + *next).filter(|(from, _)| *from == at);
            *next += 1;
            let Some(&(_, to)) = link else {
                done.insert(at, true);
                path.pop();
                continue;
            };
            match done.get(&to) {
                None => {
                    done.insert(to, false);
                    path.push((to, 0));
                }
                Some(false) => {
                    let from = path.iter().position(|(node, _)| *node == to);
                    let nodes = path.get(from.unwrap_or(0)..).unwrap_or_default();
                    return Some(nodes.iter().map(|(node, _)| *node).collect());
                }
                Some(true) => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(scopes: &[(u64, u64)], bases: &[(u64, u64)], derived: &[u64]) -> Option<Vec<u64>> {
        let mut links = Links::default();
        scopes.iter().for_each(|(a, b)| links.scope(*a, *b));
        bases.iter().for_each(|(a, b)| links.base(*a, *b));
        derived.iter().for_each(|a| links.derived(*a));
        links.cycle().map(|cycle| cycle.nodes)
    }

    #[test]
    fn only_a_chain_that_comes_back_is_a_cycle() {
        assert_eq!(cycle(&[(1, 2), (2, 3), (1, 3), (4, 1)], &[], &[]), None);
        assert_eq!(cycle(&[(5, 5)], &[], &[]), Some(vec![5]));
        assert_eq!(
            cycle(&[(9, 1), (1, 2), (2, 3), (3, 1)], &[], &[]),
            Some(vec![1, 2, 3])
        );
    }

    #[test]
    fn a_base_counts_between_derived_types_alone() {
        assert_eq!(cycle(&[], &[(1, 2), (2, 1)], &[1]), None);
        assert_eq!(cycle(&[], &[(1, 2), (2, 1)], &[1, 2]), Some(vec![1, 2]));
    }

    #[test]
    fn a_scope_and_a_base_make_no_cycle_together() {
        assert_eq!(cycle(&[(1, 2)], &[(2, 1)], &[1, 2]), None);
    }

    #[test]
    fn a_long_chain_is_followed_to_its_end() {
        let chain: Vec<_> = (0..200_000).map(|n| (n, n + 1)).collect();
        assert_eq!(cycle(&chain, &[], &[]), None);
    }
}
