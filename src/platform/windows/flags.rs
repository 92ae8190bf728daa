//! Sets of flags by the names that a Unix has for them.

/// Makes a type of flags.
macro_rules! flags {
    ($(#[$doc:meta])* $name:ident: $bits:ty { $($flag:ident = $value:expr),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub(crate) struct $name($bits);

        impl $name {
            $(pub(crate) const $flag: Self = Self($value);)*

            pub(crate) const fn empty() -> Self {
                Self(0)
            }

            pub(crate) const fn bits(self) -> $bits {
                self.0
            }

            pub(crate) const fn from_bits_retain(bits: $bits) -> Self {
                Self(bits)
            }

            pub(crate) const fn is_empty(self) -> bool {
                self.0 == 0
            }

            pub(crate) const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            pub(crate) const fn intersects(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            pub(crate) const fn insert(&mut self, other: Self) {
                self.0 |= other.0;
            }

            pub(crate) const fn remove(&mut self, other: Self) {
                self.0 &= !other.0;
            }

            pub(crate) const fn set(&mut self, other: Self, wanted: bool) {
                if wanted { self.insert(other) } else { self.remove(other) }
            }

            pub(crate) const fn difference(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl std::ops::BitOrAssign for $name {
            fn bitor_assign(&mut self, other: Self) {
                self.insert(other);
            }
        }

        impl std::ops::SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                self.remove(other);
            }
        }
    };
}

pub(super) use flags;
