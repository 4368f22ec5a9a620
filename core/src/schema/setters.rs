//! Builder methods for the members that a constructor leaves out: `InitializeRequest::new(version).client_info(info)`.

/// The builder methods of one type. They are compiled where they are used.
macro_rules! setters {
    ($name:ident $(<$a:lifetime>)?; $($member:ident: $kind:ident $ty:ty;)+) => {
        impl $(<$a>)? $name $(<$a>)? {
            $($crate::schema::setters::setter! { $kind $member $ty })+
        }
    };
}

/// One of them.
macro_rules! setter {
    (plain $member:ident $ty:ty) => {
        #[doc = concat!("The same with `", stringify!($member), "`.")]
        #[inline]
        #[must_use]
        pub fn $member(mut self, $member: $ty) -> Self {
            self.$member = $member;
            self
        }
    };
    (some $member:ident $ty:ty) => {
        #[doc = concat!("The same with `", stringify!($member), "`.")]
        #[inline]
        #[must_use]
        pub fn $member(mut self, $member: $ty) -> Self {
            self.$member = Some($member);
            self
        }
    };
    (some_into $member:ident $ty:ty) => {
        #[doc = concat!("The same with `", stringify!($member), "`.")]
        #[inline]
        #[must_use]
        pub fn $member(mut self, $member: impl Into<$ty>) -> Self {
            self.$member = Some($member.into());
            self
        }
    };
}

pub(crate) use {setter, setters};
