//! Java: whether a value of one type may be passed to a parameter of another.

use super::library::{function_parameters, is_final, is_known, is_library_subtype};
use crate::references::evaluation::Evaluator;
use crate::references::lookup::{BOXES, JavaType, is_same_erased, unboxed};
use crate::references::project::Site;

/// Whether a value may be passed to a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::references) enum Fit {
    No,
    /// A type is not known well enough.
    Perhaps,
    Yes,
}

/// How the arguments of a call fit the parameters of one overload.
#[derive(Debug, Clone)]
pub(in crate::references) struct FitOfCall {
    pub(super) fit: Fit,
    /// 1 without boxing, 2 with boxing, 3 for a variadic method.
    pub(super) phase: u8,
    /// Whether each argument has exactly the type of the parameter.
    pub(in crate::references) is_exact: bool,
    /// The positions at which it is not known whether the argument fits.
    pub(in crate::references) open: Vec<usize>,
}

const NO: FitOfCall = FitOfCall { fit: Fit::No, phase: 0, is_exact: false, open: Vec::new() };

/// Returns how arguments fit the parameters of a method. `method` is its body, whose type parameters are free.
pub(super) fn fits_all<'a>(
    evaluator: &mut Evaluator<'a>,
    method: Site,
    arguments: &[JavaType<'a>],
    parameters: &[JavaType<'a>],
    is_variable: bool,
) -> FitOfCall {
    if arguments.len() == parameters.len() {
        let found = fits_each(evaluator, method, arguments, parameters);
        if found.fit == Fit::Yes || !is_variable {
            return found;
        }
    }
    let Some((JavaType::Array(item), fixed)) = parameters.split_last().filter(|_| is_variable) else {
        return NO;
    };
    if arguments.len() < fixed.len() {
        return NO;
    }
    let mut all = fixed.to_vec();
    all.resize(arguments.len(), (**item).clone());
    let found = fits_each(evaluator, method, arguments, &all);
    FitOfCall { phase: 3, is_exact: false, ..found }
}

fn fits_each<'a>(
    evaluator: &mut Evaluator<'a>,
    method: Site,
    arguments: &[JavaType<'a>],
    parameters: &[JavaType<'a>],
) -> FitOfCall {
    let mut all = FitOfCall { fit: Fit::Yes, phase: 1, is_exact: true, open: Vec::new() };
    for (at, (argument, parameter)) in arguments.iter().zip(parameters).enumerate() {
        let (fit, phase) = fits(evaluator, method, argument, parameter);
        if fit == Fit::No {
            return NO;
        }
        if fit == Fit::Perhaps {
            all.open.push(at);
        }
        all.fit = all.fit.min(fit);
        all.phase = all.phase.max(phase);
        all.is_exact &= is_same_erased(argument, parameter);
    }
    all
}

/// Returns whether every value of one type is also of another type.
pub(super) fn is_subtype<'a>(
    evaluator: &mut Evaluator<'a>,
    method: Site,
    own: &JavaType<'a>,
    other: &JavaType<'a>,
) -> bool {
    is_same_erased(own, other) || fits(evaluator, method, own, other) == (Fit::Yes, 1)
}

/// Returns whether a value of one type fits a parameter of another, and in which phase.
fn fits<'a>(
    evaluator: &mut Evaluator<'a>,
    method: Site,
    argument: &JavaType<'a>,
    parameter: &JavaType<'a>,
) -> (Fit, u8) {
    let argument = evaluator.java_bound(argument.clone());
    match (&argument, parameter) {
        (_, JavaType::Unknown) | (JavaType::Unknown, _) => (Fit::Perhaps, 1),
        (_, JavaType::Parameter(site, _)) => {
            let bound = evaluator.java_bound(parameter.clone());
            let (fit, phase) = fits(evaluator, method, &argument, &bound);
            // A type parameter of the class is not known if the receiver's arguments are not.
            let is_free = *site == method;
            (if is_free { fit } else { fit.min(Fit::Perhaps) }, phase)
        }
        (JavaType::Primitive(own), JavaType::Primitive(other)) => {
            (if own == other || widens(own, other) { Fit::Yes } else { Fit::No }, 1)
        }
        (JavaType::Primitive(own), _) => {
            let boxed = BOXES.iter().find(|(plain, _)| plain == own).map(|(_, boxed)| *boxed);
            let Some(boxed) = boxed else { return (Fit::No, 2) };
            (fits_reference(evaluator, method, &JavaType::foreign(boxed), parameter), 2)
        }
        (_, JavaType::Primitive(other)) => match unboxed(&argument) {
            JavaType::Primitive(own) if own == *other || widens(own, other) => (Fit::Yes, 2),
            _ => (Fit::No, 2),
        },
        _ => (fits_reference(evaluator, method, &argument, parameter), 1),
    }
}

#[expect(clippy::match_same_arms, reason = "arms are in the order in which they are tried")]
fn fits_reference<'a>(
    evaluator: &mut Evaluator<'a>,
    method: Site,
    argument: &JavaType<'a>,
    parameter: &JavaType<'a>,
) -> Fit {
    match (argument, parameter) {
        (JavaType::Null, _) => Fit::Yes,
        (JavaType::Function(..), JavaType::Foreign("Object", _)) => Fit::No,
        (_, JavaType::Foreign("Object", _)) => Fit::Yes,
        (JavaType::Function(count, _), _) => fits_function(evaluator, *count, parameter),
        (JavaType::Array(own), JavaType::Array(other)) => match (&**own, &**other) {
            (JavaType::Primitive(own), JavaType::Primitive(other)) if own == other => Fit::Yes,
            (JavaType::Primitive(_), _) | (_, JavaType::Primitive(_)) => Fit::No,
            (own, other) => fits(evaluator, method, own, other).0,
        },
        (JavaType::Array(_), JavaType::Foreign("Cloneable" | "Serializable", _)) => Fit::Yes,
        (JavaType::Array(_), _) | (_, JavaType::Array(_)) => Fit::No,
        (JavaType::Class(own, _), JavaType::Class(other, _)) => {
            let (types, _) = evaluator.linearization(*own);
            if types.contains(other) { Fit::Yes } else { Fit::No }
        }
        (JavaType::Class(..), JavaType::Foreign(name, _)) => {
            let supertypes = evaluator.java_supertypes(argument);
            let foreign = supertypes.iter().filter_map(|found| match found {
                JavaType::Foreign(name, _) => Some(*name),
                _ => None,
            });
            fits_foreign(foreign, name)
        }
        (JavaType::Foreign(..), JavaType::Class(..)) => Fit::No,
        (JavaType::Foreign(own, _), JavaType::Foreign(name, _)) => fits_foreign(std::iter::once(*own), name),
        _ => Fit::Perhaps,
    }
}

/// Returns whether a type with these supertypes of other projects may be a subtype of the one with that name.
fn fits_foreign<'a>(mut supertypes: impl Iterator<Item = &'a str> + Clone, name: &str) -> Fit {
    if supertypes.clone().any(|own| own == name || is_library_subtype(own, name)) {
        return Fit::Yes;
    }
    let is_excluded =
        is_final(name) || supertypes.all(|own| own == "Object" || is_final(own) || is_known(own));
    if is_excluded { Fit::No } else { Fit::Perhaps }
}

/// Returns whether a lambda with `count` parameters fits a parameter.
fn fits_function<'a>(evaluator: &mut Evaluator<'a>, count: Option<usize>, parameter: &JavaType<'a>) -> Fit {
    let wanted = match parameter {
        JavaType::Class(key, _) => match evaluator.java_function_of(*key) {
            Some(method) => Some(evaluator.java_signature(method).types.len()),
            None => return Fit::No,
        },
        JavaType::Foreign(name, _) if is_final(name) || is_known(name) => return Fit::No,
        JavaType::Foreign(name, _) => function_parameters(name),
        _ => return Fit::No,
    };
    match (count, wanted) {
        (Some(count), Some(wanted)) if count == wanted => Fit::Yes,
        (Some(_), Some(_)) => Fit::No,
        _ => Fit::Perhaps,
    }
}

/// Returns whether a value of a primitive type is converted to another one when it is passed to a parameter.
fn widens(own: &str, other: &str) -> bool {
    const ORDER: [&str; 6] = ["byte", "short", "int", "long", "float", "double"];
    let place = |name: &str| ORDER.iter().position(|known| *known == name);
    match (own, place(own), place(other)) {
        ("char", _, Some(to)) => 2 <= to,
        (_, Some(from), Some(to)) => from < to,
        _ => false,
    }
}
