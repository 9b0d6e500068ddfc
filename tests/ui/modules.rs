//! The modules that touch no document, each with its `.test.js`.

use std::path::Path;

use rquickjs::loader::{BuiltinLoader, BuiltinResolver};
use rquickjs::{CatchResultExt, Context, Module, Runtime};

use crate::files::page_files;

fn is_module(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "js")
}

/// Runs a test module. It can import the page's modules and `check.js`.
#[track_caller]
fn run(name: &str, source: &str) {
    let (mut resolver, mut loader) = (BuiltinResolver::default(), BuiltinLoader::default());
    let modules = page_files().into_iter().filter(|(name, _)| is_module(name));
    for (name, text) in modules.chain([("check.js".to_owned(), include_str!("check.js").to_owned())]) {
        resolver.add_module(&name);
        loader.add_module(&name, text);
    }
    let runtime = Runtime::new().unwrap();
    runtime.set_loader(resolver, loader);
    Context::full(&runtime).unwrap().with(|context| {
        let outcome =
            Module::evaluate(context.clone(), name, source).and_then(|promise| promise.finish::<()>());
        if let Err(error) = outcome.catch(&context) {
            panic!("{error}");
        }
    });
}

macro_rules! module_tests {
    ($($name:ident: $file:literal,)*) => {
        $(#[test]
        fn $name() {
            run($file, include_str!($file));
        })*
    };
}

module_tests! {
    columns_and_lines: "table.test.js",
    selection: "pick.test.js",
    filter_and_search: "find.test.js",
    keys: "keys.test.js",
    treemap: "treemap.test.js",
    list_of_the_budget: "spending.test.js",
    texts_and_events: "format.test.js",
    chosen_lines: "slices.test.js",
}
