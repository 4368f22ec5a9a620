//! Builder methods for optional members: `InitializeRequest::new(version).client_info(info)`.

/// The builder methods of one type. They are inlined, so unused ones add nothing to a program.
macro_rules! setters {
    ($name:ident $(<$a:lifetime>)?; $($member:ident: $kind:ident $ty:ty;)+) => {
        impl $(<$a>)? $name $(<$a>)? {
            $($crate::schema::setters::setter! { $kind $member $ty })+
        }
    };
}

/// The builder method of one member.
macro_rules! setter {
    (plain $member:ident $ty:ty) => {
        #[doc = concat!("Sets `", stringify!($member), "`.")]
        #[inline]
        #[must_use]
        pub fn $member(mut self, $member: $ty) -> Self {
            self.$member = $member;
            self
        }
    };
    (some $member:ident $ty:ty) => {
        #[doc = concat!("Sets `", stringify!($member), "`.")]
        #[inline]
        #[must_use]
        pub fn $member(mut self, $member: $ty) -> Self {
            self.$member = Some($member);
            self
        }
    };
    (some_into $member:ident $ty:ty) => {
        #[doc = concat!("Sets `", stringify!($member), "`.")]
        #[inline]
        #[must_use]
        pub fn $member(mut self, $member: impl Into<$ty>) -> Self {
            self.$member = Some($member.into());
            self
        }
    };
}

pub(crate) use {setter, setters};
