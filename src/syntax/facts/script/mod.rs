//! JavaScript and TypeScript, and the manifests of their packages.

mod common_js;
mod components;
mod context;
mod manifest;
mod modules;
mod patterns;
mod reader;
mod syntax;
mod types;

pub(super) use components::walk_component;
pub(super) use manifest::{is_json_manifest, is_yaml_manifest, json_facts, yaml_facts};
pub(super) use reader::walk;
