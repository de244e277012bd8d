//! What identifies a pattern, a variable and a place in the code in all executions of a campaign.

use super::{AccessType, Pattern, Variable};

/// A variable: a piece of memory under a name that is the same in every execution.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct ObjectId(pub u64);

/// A place in the code that accesses memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SiteId(pub u64);

/// A pattern with its sites and variables, as one number. Threads do not count: they are roles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PatternKey(pub u64);

/// Mixes a word into a number so that the order of words matters. The same in every process.
pub fn mix(state: u64, word: u64) -> u64 {
    let mut mixed = state.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(word);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl PatternKey {
    /// The key that a pattern at these sites and on these variables has, step by step, whether or not any
    /// trace shows it. None if they do not fit the pattern.
    pub fn of(pattern: &Pattern, steps: &[(SiteId, ObjectId)]) -> Option<PatternKey> {
        if steps.len() != pattern.steps.len() {
            return None;
        }
        let on = |variable: Variable| {
            let own = pattern.steps.iter().zip(steps).filter(move |(step, _)| step.2 == variable);
            own.map(|((_, manner, _), (site, object))| (*manner, *site, *object)).collect::<Vec<_>>()
        };
        let link = |steps: &[(AccessType, SiteId, ObjectId)]| match *steps {
            [(first, a, object), (second, b, same)] if object == same => {
                Some(Link::new(LinkKind::of(first, second)?, object, [a, b]))
            }
            _ => None,
        };
        let (x, y) = (on(Variable::X), on(Variable::Y));
        match (&x[..], &y[..]) {
            ([_, _], []) => Some(link(&x)?.key),
            ([a, b, c], []) if a.2 == b.2 && b.2 == c.2 => {
                Some(PatternKey::of_triple(pattern.id, a.2, [a.1, b.1, c.1]))
            }
            ([a, _], [b, _]) if a.2 != b.2 => {
                let (x, y) = (link(&x)?, link(&y)?);
                let all = [Relation::Apart, Relation::Crossing, Relation::Nested];
                let relation = all.into_iter().find(|it| x.kind.joined(*it) == pattern.id)?;
                Some(x.join(&y, relation).1)
            }
            _ => None,
        }
    }

    /// The key of a pattern (4 to 8) of three accesses to one variable.
    pub(super) fn of_triple(pattern: u8, object: ObjectId, sites: [SiteId; 3]) -> PatternKey {
        let start = mix(u64::from(pattern), object.0);
        PatternKey(sites.iter().fold(start, |state, site| mix(state, site.0)))
    }
}

/// Two accesses to one variable by different threads, at least one of which writes, with no write in
/// between: patterns 1 to 3, and the parts that the two-variable patterns are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Link {
    pub key: PatternKey,
    pub kind: LinkKind,
    pub object: ObjectId,
    pub sites: [SiteId; 2],
}

/// How the two accesses of a link touch their variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LinkKind {
    ReadWrite,
    WriteRead,
    WriteWrite,
}

/// How the links of a two-variable pattern lie in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    /// x x y y
    Apart,
    /// x y x y
    Crossing,
    /// x y y x
    Nested,
}

impl LinkKind {
    /// What a link between two such accesses is; none if both only read.
    pub fn of(first: AccessType, second: AccessType) -> Option<LinkKind> {
        match (first, second) {
            (AccessType::Reads, AccessType::Reads) => None,
            (AccessType::Reads, AccessType::Writes) => Some(LinkKind::ReadWrite),
            (AccessType::Writes, AccessType::Reads) => Some(LinkKind::WriteRead),
            (AccessType::Writes, AccessType::Writes) => Some(LinkKind::WriteWrite),
        }
    }

    /// The manners of the two accesses.
    pub fn manners(self) -> [AccessType; 2] {
        match self {
            LinkKind::ReadWrite => [AccessType::Reads, AccessType::Writes],
            LinkKind::WriteRead => [AccessType::Writes, AccessType::Reads],
            LinkKind::WriteWrite => [AccessType::Writes, AccessType::Writes],
        }
    }

    /// The kind that the other link of a two-variable pattern has.
    pub fn reversed(self) -> LinkKind {
        match self {
            LinkKind::ReadWrite => LinkKind::WriteRead,
            LinkKind::WriteRead => LinkKind::ReadWrite,
            LinkKind::WriteWrite => LinkKind::WriteWrite,
        }
    }

    fn pattern(self) -> u8 {
        match self {
            LinkKind::ReadWrite => 1,
            LinkKind::WriteRead => 2,
            LinkKind::WriteWrite => 3,
        }
    }

    /// The two-variable pattern whose link on x is of this kind.
    pub fn joined(self, relation: Relation) -> u8 {
        match (self, relation) {
            (LinkKind::WriteWrite, Relation::Apart) => 9,
            (LinkKind::WriteWrite, Relation::Crossing) => 10,
            (LinkKind::WriteWrite, Relation::Nested) => 11,
            (LinkKind::WriteRead, Relation::Apart) => 12,
            (LinkKind::WriteRead, Relation::Crossing) => 13,
            (LinkKind::WriteRead, Relation::Nested) => 17,
            (LinkKind::ReadWrite, Relation::Apart) => 14,
            (LinkKind::ReadWrite, Relation::Crossing) => 15,
            (LinkKind::ReadWrite, Relation::Nested) => 16,
        }
    }
}

impl Link {
    pub fn new(kind: LinkKind, object: ObjectId, sites: [SiteId; 2]) -> Link {
        let start = mix(u64::from(kind.pattern()), object.0);
        let key = PatternKey(sites.iter().fold(start, |state, site| mix(state, site.0)));
        Link { key, kind, object, sites }
    }

    /// The number of the pattern that the link is by itself.
    pub fn pattern(&self) -> u8 {
        self.kind.pattern()
    }

    /// The pattern that this link, on x, makes with one on y; a link has all there is to know of its
    /// accesses, so their keys are enough.
    pub fn join(&self, y: &Link, relation: Relation) -> (u8, PatternKey) {
        let pattern = self.kind.joined(relation);
        (pattern, PatternKey(mix(mix(u64::from(pattern), self.key.0), y.key.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PATTERNS, PatternRole, find};
    use super::*;

    /// The two-variable patterns are the pairs of reversed links in opposite directions, no more and no less.
    #[test]
    fn two_variable_patterns_are_pairs_of_links() {
        use PatternRole::{A, B};
        use Variable::{X, Y};
        let mut seen = Vec::new();
        for kind in [LinkKind::ReadWrite, LinkKind::WriteRead, LinkKind::WriteWrite] {
            let [x1, x2] = kind.manners();
            let [y1, y2] = kind.reversed().manners();
            let x = [(A, x1, X), (B, x2, X)];
            let y = [(B, y1, Y), (A, y2, Y)];
            for (relation, steps) in [
                (Relation::Apart, [x[0], x[1], y[0], y[1]]),
                (Relation::Crossing, [x[0], y[0], x[1], y[1]]),
                (Relation::Nested, [x[0], y[0], y[1], x[1]]),
            ] {
                let pattern = find(&steps).expect("every such pair is a pattern");
                assert_eq!(pattern.id, kind.joined(relation));
                seen.push(pattern.id);
            }
        }
        seen.sort_unstable();
        let all: Vec<u8> = PATTERNS.iter().filter(|it| it.has_two_variables()).map(|it| it.id).collect();
        assert_eq!(seen, all);
    }

    #[test]
    fn steps_that_do_not_fit_have_no_key() {
        let (x, y) = (ObjectId(1), ObjectId(2));
        let key = |pattern: usize, objects: &[ObjectId]| {
            let steps: Vec<_> = objects.iter().map(|object| (SiteId(9), *object)).collect();
            PatternKey::of(&PATTERNS[pattern - 1], &steps)
        };
        assert!(key(1, &[x, x]).is_some() && key(4, &[x, x, x]).is_some() && key(9, &[x, x, y, y]).is_some());
        for (pattern, objects) in
            [(1, vec![x, y]), (4, vec![x, x, y]), (9, vec![x, x, x, x]), (4, vec![x, x])]
        {
            assert_eq!(key(pattern, &objects), None);
        }
    }

    #[test]
    fn keys_distinguish_the_order_of_sites() {
        let (x, y) = (ObjectId(7), ObjectId(8));
        let key = |object, a, b| Link::new(LinkKind::WriteWrite, object, [SiteId(a), SiteId(b)]).key;
        assert_eq!(key(x, 1, 2), key(x, 1, 2));
        assert_ne!(key(x, 1, 2), key(x, 2, 1));
        assert_ne!(key(x, 1, 2), key(y, 1, 2));
        let triple = |sites| PatternKey::of_triple(7, x, sites);
        assert_ne!(triple([1, 2, 3].map(SiteId)), triple([3, 2, 1].map(SiteId)));
    }
}
