//! The longest of many stretches of time, in bounded memory.

/// Something that lasts.
pub(super) trait Lasting {
    /// How long it lasts; of so many seconds that `f32` cannot hold them nothing lasts in a trace.
    fn seconds(&self) -> f32;
}

/// At most `MAX` items: when there are more, the shorter half of them is forgotten, and no shorter one is taken any more.
#[derive(Clone, Debug)]
pub(super) struct Longest<T, const MAX: usize> {
    pub items: Vec<T>,
    /// Items shorter than this are not kept, seconds.
    pub shortest: f32,
}

impl<T, const MAX: usize> Default for Longest<T, MAX> {
    fn default() -> Self {
        Longest {
            items: Vec::new(),
            shortest: 0.0,
        }
    }
}

impl<T: Lasting, const MAX: usize> Longest<T, MAX> {
    /// Takes an item, if it is not one of the shorter ones.
    pub(super) fn add(&mut self, item: T) {
        if item.seconds() < self.shortest {
            return;
        }
        if self.items.len() == MAX {
            let mut lengths: Vec<f32> = self.items.iter().map(T::seconds).collect();
            let middle = lengths.len() / 2;
            let (_, median, _) = lengths.select_nth_unstable_by(middle, f32::total_cmp);
            // Equal ones go together.
            let shortest = median.next_up();
            self.shortest = shortest;
            self.items.retain(|item| item.seconds() >= shortest);
        }
        self.items.push(item);
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.shortest = 0.0;
    }
}
