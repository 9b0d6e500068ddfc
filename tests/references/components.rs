//! Components of Vue, Svelte and Astro: what their scripts and their templates use.

use super::references;

const LIBRARY: &str = "export function format(value: number) {}\nexport class Player {\n  stop() {}\n}\nexport const load = () => 1;\n";

#[test]
fn scripts_and_templates_of_components_use_other_files() {
    let vue = "<script setup lang=\"ts\">\nimport { format, Player } from './lib'\nimport SongRow from './SongRow.vue'\nconst player = new Player()\nfunction save() {}\n</script>\n\n<template>\n  <song-row @stop=\"player.stop()\" @save=\"save\">{{ format(1) }}</song-row>\n</template>\n";
    let row = "<template><p>{{ a }}</p></template>\n";
    let found = references(&[("lib.ts", LIBRARY), ("A.vue", vue), ("SongRow.vue", row)]);
    for row in [
        "A.vue:4 -> lib.ts/Player sure",
        "A.vue:9 -> SongRow.vue/default sure",
        "A.vue:9 -> lib.ts/Player.stop sure",
        "A.vue:9 -> save sure",
        "A.vue:9 -> lib.ts/format sure",
    ] {
        assert!(found.iter().any(|found| found == row), "{row} is not in {found:#?}");
    }
}

#[test]
fn a_template_of_svelte_may_begin_with_text() {
    let svelte = "Total: {format(1)}\n<script>\n  import { format } from './lib';\n</script>\n";
    let found = references(&[("lib.ts", LIBRARY), ("A.svelte", svelte)]);
    assert_eq!(found, ["A.svelte:1 -> lib.ts/format sure"]);
}

#[test]
fn a_template_of_svelte_reads_stores_and_calls_functions() {
    let svelte = "<script>\n  import { format, load } from './lib';\n  function next() { $load.shift(); }\n</script>\n\n{#if a}\n  <button on:click={next} class=\"{$load}\">{format(1)}</button>\n{/if}\n";
    let found = references(&[("lib.ts", LIBRARY), ("A.svelte", svelte)]);
    let expected = [
        "A.svelte:3 -> lib.ts/load sure",
        "A.svelte:7 -> next sure",
        "A.svelte:7 -> lib.ts/load sure",
        "A.svelte:7 -> lib.ts/format sure",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_page_of_astro_shows_components() {
    let astro = "---\nimport { format } from './lib';\nimport Card from './Card.svelte';\nconst { title } = Astro.props;\n---\n\n<ul>\n  {[1].map((one) => <Card at={format(one)} />)}\n</ul>\n";
    let found = references(&[("lib.ts", LIBRARY), ("A.astro", astro), ("Card.svelte", "<p>{at}</p>\n")]);
    assert_eq!(found, ["A.astro:8 -> Card.svelte/default sure", "A.astro:8 -> lib.ts/format sure"]);
}

#[test]
fn names_of_nuxt_need_no_import_and_aliases_are_folders_of_sources() {
    let page = "<script setup>\nimport { format } from '~/lib/format'\nconst songs = useSongs()\n</script>\n\n<template>\n  <CommonRow :song=\"format(songs)\" />\n  <Unknown />\n</template>\n";
    let found = references(&[
        ("nuxt.config.ts", "export default {}\n"),
        ("app/pages/index.vue", page),
        ("app/components/common/CommonRow.vue", "<template><p /></template>\n"),
        ("app/composables/songs.ts", "export const useSongs = () => 1\n"),
        ("app/lib/format.ts", "export function format() {}\n"),
    ]);
    let expected = [
        "app/pages/index.vue:3 -> app/composables/songs.ts/useSongs sure",
        "app/pages/index.vue:7 -> app/components/common/CommonRow.vue/default likely",
        "app/pages/index.vue:7 -> app/lib/format.ts/format sure",
    ];
    assert_eq!(found, expected);
}

#[test]
fn folders_outside_of_a_nuxt_project_need_imports() {
    let songs = "export const useSongs = () => 1\n";
    let found = references(&[
        ("web/nuxt.config.ts", "export default {}\n"),
        ("web/pages/index.vue", "<script setup>\nconst songs = useSongs()\n</script>\n"),
        ("website/composables/songs.ts", songs),
    ]);
    assert!(!found.iter().any(|found| found.contains("useSongs sure")), "{found:#?}");
}

#[test]
fn options_of_vue_are_members_of_the_component() {
    let vue = "<template>\n  <p @click=\"load\">{{ total }}</p>\n</template>\n\n<script>\nexport default {\n  created() { this.load() },\n  computed: { total() { return this.songs.length } },\n  watch: { songs() { this.other() } },\n  methods: {\n    load() { this.total },\n    other() {},\n  },\n}\n</script>\n";
    let user = "import A from './A.vue'\nA.setup()\n";
    let found = references(&[("A.vue", vue), ("b.ts", user)]);
    let expected = [
        "A.vue:2 -> load sure",
        "A.vue:2 -> total sure",
        "A.vue:7 -> load sure",
        "A.vue:11 -> total sure",
        "b.ts:2 -> A.vue/default sure",
    ];
    assert_eq!(found, expected);
}
