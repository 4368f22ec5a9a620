//! Checks what the format alone cannot: that every name means something. Generators rely on it.

use anyhow::{bail, ensure, Context, Result};

use super::{
    Body, Field, Fields, Flat, Gate, GateForm, Is, Kind, OnMissing, Open, Sender, Shape, TypeExpr, Union, Version,
    DRAFTS,
};

/// Most members of one object, so that the core's tables can count them in a byte.
const MOST_FIELDS: usize = 200;

/// Fails at the first name that means nothing.
pub(super) fn version(version: &Version) -> Result<()> {
    for (name, def) in &version.types {
        let check = || {
            draft(def.draft.as_ref())?;
            match &def.shape {
                Shape::Object { fields: own, flat } => {
                    fields(version, own)?;
                    match flat {
                        Some(Flat::Union(own)) => union(version, own),
                        Some(Flat::AnyOf(of)) => of.iter().try_for_each(|ty| members(version, ty)),
                        None => Ok(()),
                    }
                }
                Shape::Union(own) => union(version, own),
                Shape::AnyOf { of, .. } => of.iter().try_for_each(|ty| known(version, ty)),
                Shape::Alias(ty) => known(version, ty),
                Shape::String { .. } | Shape::Integer(_) | Shape::Enum { .. } | Shape::Codes(_) => Ok(()),
            }
        };
        check().with_context(|| format!("{} › {name}", version.folder()))?;
    }
    for (name, method) in &version.methods {
        let check = || {
            draft(method.draft.as_ref())?;
            let types = [Some(&method.params), method.notification_params.as_ref(), method.result.as_ref()];
            for name in types.into_iter().flatten() {
                ensure!(version.types.contains_key(name), "there is no type {name}");
            }
            ensure!((method.kind == Kind::Notification) == method.retry.is_none(), "expected retry, of requests alone");
            ensure!(method.gate.is_some() == method.gate_rule.is_some(), "expected gate and gate-rule together");
            method.gate.as_ref().map_or(Ok(()), |own| gate(version, own).with_context(|| format!("gate {}", own.path)))
        };
        check().with_context(|| format!("{}/methods.json › {name}", version.folder()))?;
    }
    for part in &version.parts {
        let check = || {
            draft(part.draft.as_ref())?;
            for name in &part.methods {
                ensure!(version.methods.contains_key(name), "there is no method {name}");
            }
            part.needs.as_ref().map_or(Ok(()), |(of, path)| capability(version, *of, path).map(drop))
        };
        check().with_context(|| format!("{}/parts.json › {}", version.folder(), part.name))?;
    }
    Ok(())
}

/// Follows the path of a gate through the capabilities of its side.
fn gate(version: &Version, gate: &Gate) -> Result<()> {
    let ty = capability(version, gate.of, &gate.path)?;
    let boolean = gate.form == GateForm::Boolean;
    ensure!((ty == TypeExpr::Boolean) == boolean, "{ty} does not say yes by {}", gate.form.name());
    Ok(())
}

/// The type of a capability: the end of its path through the capabilities of its side.
fn capability(version: &Version, of: Sender, path: &str) -> Result<TypeExpr> {
    let mut ty = match of {
        Sender::Agent => TypeExpr::Named("AgentCapabilities".to_owned()),
        Sender::Client => TypeExpr::Named("ClientCapabilities".to_owned()),
        Sender::Both => bail!("expected agent or client as the side"),
    };
    for name in path.split('.') {
        let shape = ty.named().and_then(|name| version.types.get(name)).map(|def| &def.shape);
        let field = match shape {
            Some(Shape::Object { fields, .. }) => fields.get(name),
            _ => None,
        };
        ty = field.with_context(|| format!("{ty} has no member {name}"))?.ty.clone();
    }
    Ok(ty)
}

fn draft(name: Option<&String>) -> Result<()> {
    if let Some(name) = name {
        ensure!(DRAFTS.contains(&name.as_str()), "there is no draft {name}");
    }
    Ok(())
}

fn fields(version: &Version, fields: &Fields) -> Result<()> {
    ensure!(fields.len() <= MOST_FIELDS, "expected at most {MOST_FIELDS} members");
    for (name, field) in fields {
        let check = || {
            draft(field.draft.as_ref())?;
            let text = field.constant.as_ref().is_none_or(serde_json::Value::is_string);
            ensure!(text, "expected a string as the constant");
            let empty = field.on_missing != Some(OnMissing::Empty) || has_empty(version, &field.ty);
            ensure!(empty, "{} has no empty value", field.ty);
            ensure!(field.on_missing.is_none() || field.required, "on-missing is for what must be there");
            known(version, &field.ty)
        };
        check().with_context(|| name.clone())?;
    }
    Ok(())
}

fn union(version: &Version, union: &Union) -> Result<()> {
    let body = |body: &Body| match body {
        Body::Named(name) => members(version, &TypeExpr::Named(name.clone())),
        Body::Fields(own) => fields(version, own),
    };
    for (tag, variant) in &union.variants {
        draft(variant.draft.as_ref()).and_then(|()| body(&variant.body)).with_context(|| tag.clone())?;
    }
    if let Open::With(own) = &union.open {
        fields(version, own)?;
    }
    union.untagged.as_ref().map_or(Ok(()), body)
}

fn known(version: &Version, ty: &TypeExpr) -> Result<()> {
    if let Some(name) = ty.named() {
        ensure!(version.types.contains_key(name), "there is no type {name}");
    }
    Ok(())
}

/// A list, or an object whose required members are strings: what receivers can put in the place of one that is missing.
fn has_empty(version: &Version, ty: &TypeExpr) -> bool {
    let TypeExpr::Named(name) = ty else { return matches!(ty, TypeExpr::List(_)) };
    let Some(Shape::Object { fields, flat: None }) = version.types.get(name).map(|def| &def.shape) else {
        return false;
    };
    let text = |field: &Field| field.ty == TypeExpr::String && matches!(field.is, None | Some(Is::Name));
    fields.values().all(|field| !field.required || text(field))
}

/// A type whose members can stand in another object.
fn members(version: &Version, ty: &TypeExpr) -> Result<()> {
    known(version, ty)?;
    let shape = ty.named().and_then(|name| version.types.get(name)).map(|def| &def.shape);
    let has = matches!(shape, Some(Shape::Object { .. } | Shape::Union(_) | Shape::AnyOf { .. }));
    ensure!(has, "expected a type with members, not {ty}");
    Ok(())
}
