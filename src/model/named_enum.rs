//! Enums whose values have stable names.

/// Declares a field-less enum whose values have stable names, with `ALL`, `name` and `from_name`.
///
/// One table instead of three lists that have to agree. The `strum` crate was measured and rejected: its derives cost a
/// clean build five seconds of processor time, and its names are not `const`.
macro_rules! named_enum {
    (
        $(#[$attribute:meta])*
        pub enum $type:ident {
            $($(#[$variant_attribute:meta])* $variant:ident = $name:literal,)+
        }
    ) => {
        $(#[$attribute])*
        pub enum $type {
            $($(#[$variant_attribute])* $variant,)+
        }

        impl $type {
            /// Every value, in the order of their declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// Returns the stable name, as in settings, flags, reports and the store.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// Returns the value of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|value| value.name() == name)
            }
        }
    };
}

pub(crate) use named_enum;
