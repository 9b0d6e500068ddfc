//! What only JavaScript and TypeScript have: assigned exports (`common_js`), files by module names (`modules`), types
//! of functions and their parameters (`types`), and globals that no import names (`globals`).

mod common_js;
mod globals;
mod modules;
mod types;
