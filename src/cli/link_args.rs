//! Declarations of `slop link`.

use std::path::PathBuf;

use clap::{Args as Arguments, Subcommand};

use super::values::resource_kind;
use crate::model::ResourceKind;

/// Arguments of `link`.
#[derive(Debug, Arguments)]
pub struct LinkArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: LinkCommand,
}

/// The subcommands of `link`.
#[derive(Debug, Subcommand)]
pub enum LinkCommand {
    /// Link a folder to the project: its file src/a.py becomes @NAME/src/a.py
    ///
    /// The link is written to your own file of links, never to the project.
    #[command(after_help = "Examples:
  slop link add ../lib
  slop link add ~/notes/design --name design --kind directory
  slop link add --submodules")]
    Add {
        /// The folder
        #[arg(value_name = "DIR", required_unless_present = "submodules")]
        folder: Option<PathBuf>,
        /// The name of the folder in the project [default: the folder's own name]
        #[arg(long)]
        name: Option<String>,
        /// How its files are listed: git-checkout (by git) or directory (by a walk) [default: detected]
        #[arg(long, value_name = "KIND", value_parser = resource_kind())]
        kind: Option<ResourceKind>,
        /// Link all submodules, and all other checkouts within the project, each by the name of its folder
        #[arg(long, conflicts_with_all = ["folder", "name", "kind"])]
        submodules: bool,
    },
    /// List the linked folders, and those that the project proposes
    #[command(after_help = "Example:
  slop link list --json | jq '.data.links[].state'")]
    List,
    /// Consent to linked folders that the project's slop.toml proposes
    ///
    /// Shows each folder, its files and their size first. Asks on a terminal; elsewhere, --yes is required. The consent
    /// holds for this project, name, kind, path and folder: if one of them changes, consent is required again.
    #[command(after_help = "Examples:
  slop link trust
  slop link trust lib --yes")]
    Trust {
        /// The names of the folders [default: all that are proposed]
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Consent to all proposed folders
        #[arg(long, conflicts_with = "names")]
        all: bool,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
    /// Remove a link; the folder is not touched
    #[command(after_help = "Example:
  slop link remove lib")]
    Remove {
        /// The name of the linked folder
        name: String,
    },
}
