//! The calls in progress in a thread.

use std::ops::Range;

use super::{FRAMES, Fiber, Frame};
use crate::call_contexts::Contexts;
use crate::shared_memory::Shared;

impl Fiber {
    /// A function was entered.
    #[inline(always)]
    pub fn enter(&self, pc: u64, sp: usize) {
        // SAFETY: `depth` never exceeds the mapped frames.
        unsafe {
            while self.depth.get() > 0 && (*self.frames.add(self.depth.get() - 1)).sp <= sp {
                self.depth.set(self.depth.get() - 1);
            }
            if self.depth.get() < FRAMES {
                *self.frames.add(self.depth.get()) = Frame { pc, sp, context: 0, is_recorded: false };
                self.depth.set(self.depth.get() + 1);
            }
        }
    }

    /// A function was left.
    #[inline(always)]
    pub fn leave(&self) {
        self.depth.set(self.depth.get().saturating_sub(1));
    }

    /// The return addresses of the calls in progress, innermost first.
    pub fn call_stack(&self) -> impl Iterator<Item = u64> + use<> {
        let (frames, depth) = (self.frames, self.depth.get());
        // SAFETY: entries below `depth` are initialised.
        (0..depth).rev().map(move |index| unsafe { (*frames.add(index)).pc })
    }

    /// Where the calls in progress have called out of themselves, innermost first, as far as they lie above `sp`. Compiled
    /// code makes all its calls from one depth of its stack, so the return address lies where that of the hook's call lay.
    pub fn called_out_at(&self, sp: usize) -> impl Iterator<Item = u64> + use<> {
        let (frames, depth) = (self.frames, self.depth.get());
        // SAFETY: entries below `depth` are initialised.
        let slots = (0..depth).rev().map(move |index| unsafe { (*frames.add(index)).sp });
        // A call that was left by a jump or by unwinding may still be listed.
        // SAFETY: the stack above the stack pointer is in use.
        slots.filter(move |slot| *slot >= sp).map(|slot| unsafe { *(slot as *const u64) })
    }

    /// The call in progress whose variables lie at an address of this thread's stack, if nobody has
    /// asked for it before: from where to where they reach, and a place in its code.
    pub fn unrecorded_call(&self, address: usize) -> Option<(Range<usize>, u64)> {
        const LARGEST: usize = 1 << 16;
        // SAFETY: entries below `depth` are initialised; the stack above an active call's entry is
        // readable up to its return address.
        unsafe {
            // Outer calls lie higher.
            let index = (0..self.depth.get()).find(|index| (*self.frames.add(*index)).sp <= address)?;
            let frame = &mut *self.frames.add(index);
            if std::mem::replace(&mut frame.is_recorded, true) {
                return None;
            }
            let end = (frame.sp + LARGEST).min(self.stack.get().1);
            let return_slot = (frame.sp..end).step_by(8).find(|slot| *(*slot as *const u64) == frame.pc)?;
            let inner = (index + 1 < self.depth.get()).then(|| (*self.frames.add(index + 1)).pc);
            let variables = frame.sp..return_slot + 8;
            variables.contains(&address).then_some((variables, inner.unwrap_or(self.site())))
        }
    }

    /// The number of the calls in progress in the table of contexts.
    #[inline(always)]
    pub fn context(&self, contexts: &mut Contexts, shared: &Shared) -> u32 {
        let (mut known, mut context) = (self.depth.get(), 0);
        // SAFETY: entries below `depth` are initialised.
        unsafe {
            while known > 0 {
                context = (*self.frames.add(known - 1)).context;
                if context != 0 {
                    break;
                }
                known -= 1;
            }
            for index in known..self.depth.get() {
                let frame = &mut *self.frames.add(index);
                context = contexts.inside(context, frame.pc, shared);
                frame.context = context;
            }
        }
        context
    }

    /// Gives the memory for its calls to others: it makes none any more.
    pub fn give_frames(&self, pool: &mut Vec<*mut Frame>) {
        self.depth.set(0);
        pool.push(self.frames);
    }

    /// Forgets the calls in progress, for a thread that begins.
    pub fn clear_frames(&self) {
        self.depth.set(0);
    }
}

#[cfg(test)]
mod tests {
    use threadbare_trace::ThreadId;

    use super::*;

    #[test]
    fn calls_that_were_left_without_notice_are_forgotten_at_the_next_entrance() {
        let fiber = Fiber::new(ThreadId::MAIN, Fiber::new_frames());
        fiber.enter(1, 900);
        fiber.enter(2, 800);
        fiber.enter(3, 700);
        assert_eq!(fiber.call_stack().collect::<Vec<_>>(), [3, 2, 1]);
        // A jump has left the two inner ones: the stack is where the second one was.
        fiber.enter(4, 800);
        assert_eq!(fiber.call_stack().collect::<Vec<_>>(), [4, 1]);
        fiber.leave();
        fiber.leave();
        fiber.leave();
        assert_eq!(fiber.call_stack().count(), 0);
    }
}
