//! A walk through a project of 3,000 files, by mouse and then by keyboard alone: both write the same settings at each
//! step.

use fantoccini::key::Key;
use serde_json::json;

use super::OpenPage;
use super::sandbox::Sandbox;

const FOLDERS: usize = 30;
const FILES: usize = 100;

/// The settings after each step of the walk, with the name of the step.
type Steps = Vec<(&'static str, String)>;

fn key(key: Key) -> char {
    char::from(key)
}

/// Opens the page of a project that is as large as many real ones.
async fn open_large_project() -> OpenPage {
    let sandbox = Sandbox::repo();
    for folder in 0..FOLDERS {
        for file in 0..FILES {
            let text = format!(
                "class Part{file}:\n    def run(self):\n        return {folder}\n\n    def stop(self):\n        pass\n"
            );
            sandbox.write(format!("pkg{folder:02}/part{file:02}.py"), text);
        }
    }
    OpenPage::of(sandbox).await
}

/// Waits until the selection is written as this.
async fn selected(page: &OpenPage, text: &str) {
    page.browser
        .wait_until(&format!("document.querySelector('#selected').textContent.startsWith('{text}')"))
        .await;
}

/// Waits until this number of files is listed.
async fn listed(page: &OpenPage, files: usize) {
    page.browser
        .wait_until(&format!("document.querySelector('.files .rows').ariaRowCount === '{}'", files + 2))
        .await;
}

async fn note(page: &OpenPage, steps: &mut Steps, step: &'static str, is_right: impl Fn(&str) -> bool) {
    let settings = page.settings_until(is_right).await;
    // The page names the revision of the next edit.
    page.browser.wait_until("document.querySelector('#banner').hidden").await;
    steps.push((step, settings));
}

/// Waits until the settings are again as they were after an earlier step.
async fn back_to(page: &OpenPage, steps: &mut Steps, settings: &str) {
    note(page, steps, "undo", |now| now == settings).await;
}

async fn by_mouse(page: &OpenPage) -> Steps {
    let browser = &page.browser;
    let mut steps = Steps::new();
    browser.fill("#filter", "pkg07/").await;
    listed(page, FILES).await;
    browser.click(".files .file[aria-rowindex='3']").await;
    browser
        .run("const list = document.querySelector('.files .rows'); list.scrollTop = list.scrollHeight")
        .await;
    browser.find(".files .file[aria-rowindex='102']").await;
    browser
        .run("document.querySelector(\".files .file[aria-rowindex='102']\").dispatchEvent(new MouseEvent('click', {bubbles: true, shiftKey: true}))")
        .await;
    selected(page, "100 of 3,000 selected → 1 entry").await;
    browser.click("#batch-sig").await;
    note(page, &mut steps, "Sig on a folder", |now| now.contains("ast_signatures")).await;

    browser.fill("#filter", "pkg03/part05").await;
    listed(page, 1).await;
    browser
        .run("document.querySelector('.files .file').click(); document.querySelector('.files .file').dispatchEvent(new MouseEvent('dblclick', {bubbles: true}))")
        .await;
    browser.click("input[value=def][aria-label='Def Part5.run']").await;
    note(page, &mut steps, "Def on a symbol", |now| now.contains("Part5.run")).await;
    browser.click("#tab-slices").await;
    browser.click(".lines [data-row='1']").await;
    browser.click("#slice-tag").await;
    browser.press(&['h', 'o', 't', key(Key::Enter)]).await;
    note(page, &mut steps, "lines marked", |now| now.contains("tag = \"hot\"")).await;

    browser.click("#to-takes").await;
    browser.click("#copy-0").await;
    browser.fill("#answer", "other").await;
    browser.click("#switch-1").await;
    browser.wait_until("document.querySelector('.take-list .now b').textContent === 'other'").await;
    note(page, &mut steps, "switched", |_| true).await;
    browser.wait_until("!document.querySelector('#switch-1').disabled").await;
    browser.click("#switch-1").await;
    browser.wait_until("document.querySelector('.take-list .now b').textContent === 'main'").await;
    note(page, &mut steps, "switched back", |_| true).await;
    for at in (0..2).rev() {
        browser.wait_until("!document.querySelector('#undo').disabled").await;
        browser.click("#undo").await;
        let settings = steps[at].1.clone();
        back_to(page, &mut steps, &settings).await;
    }
    browser
        .wait_until("document.querySelector('.states .now').textContent.includes('Sig on 100 files')")
        .await;
    browser.click(".states li .jump").await;
    let settings = steps[2].1.clone();
    note(page, &mut steps, "jump", |now| now == settings).await;
    steps
}

async fn by_keyboard(page: &OpenPage) -> Steps {
    let browser = &page.browser;
    let mut steps = Steps::new();
    let type_text = async |text: &str| browser.press(&text.chars().collect::<Vec<_>>()).await;
    browser.press(&['1', '/']).await;
    type_text("pkg07/").await;
    listed(page, FILES).await;
    browser.press(&[key(Key::Enter), key(Key::Home), 'j']).await;
    browser.press(&[' ', key(Key::End)]).await;
    browser.press_with(&[Key::Shift], &[' ']).await;
    selected(page, "100 of 3,000 selected → 1 entry").await;
    browser.press(&['s']).await;
    note(page, &mut steps, "Sig on a folder", |now| now.contains("ast_signatures")).await;

    browser.press(&[key(Key::Escape), '/']).await;
    type_text("pkg03/part05").await;
    listed(page, 1).await;
    browser.press(&[key(Key::Enter), key(Key::End), key(Key::Enter)]).await;
    browser.find("input[value=def][aria-label='Def Part5.run']").await;
    focus_by_tab(page, "input[aria-label$=' Part5']").await;
    // The radio buttons of the next symbol are one step further.
    focus_by_tab(page, "input[aria-label$=' Part5.run']").await;
    browser.press(&['d']).await;
    note(page, &mut steps, "Def on a symbol", |now| now.contains("Part5.run")).await;
    focus_back_by_tab(page, "#tab-outline").await;
    browser.press(&[key(Key::Right)]).await;
    focus_by_tab(page, ".lines").await;
    browser.press(&[key(Key::Down), key(Key::Down)]).await;
    browser.wait_until("document.querySelector('#slice-add').textContent === 'Mark line 2'").await;
    focus_back_by_tab(page, "#slice-tag").await;
    type_text("hot").await;
    browser.press(&[key(Key::Enter)]).await;
    note(page, &mut steps, "lines marked", |now| now.contains("tag = \"hot\"")).await;

    browser.press(&['t']).await;
    focus_by_tab(page, "#copy-0").await;
    browser.press(&[key(Key::Enter)]).await;
    browser.find("#answer").await;
    type_text("other").await;
    browser.press(&[key(Key::Enter)]).await;
    browser.find("#switch-1").await;
    focus_by_tab(page, "#switch-1").await;
    browser.press(&[key(Key::Enter)]).await;
    browser.wait_until("document.querySelector('.take-list .now b').textContent === 'other'").await;
    note(page, &mut steps, "switched", |_| true).await;
    focus_by_tab(page, "#switch-1").await;
    browser.press(&[key(Key::Enter)]).await;
    browser.wait_until("document.querySelector('.take-list .now b').textContent === 'main'").await;
    note(page, &mut steps, "switched back", |_| true).await;
    for at in (0..2).rev() {
        browser.wait_until("!document.querySelector('#undo').disabled").await;
        browser.press(&['z']).await;
        let settings = steps[at].1.clone();
        back_to(page, &mut steps, &settings).await;
    }
    browser
        .wait_until("document.querySelector('.states .now').textContent.includes('Sig on 100 files')")
        .await;
    focus_by_tab(page, ".states li .jump").await;
    browser.press(&[key(Key::Enter)]).await;
    let settings = steps[2].1.clone();
    note(page, &mut steps, "jump", |now| now == settings).await;
    steps
}

/// Presses Tab until an element has the focus.
async fn focus_by_tab(page: &OpenPage, selector: &str) {
    press_until(page, &[], selector).await;
}

async fn focus_back_by_tab(page: &OpenPage, selector: &str) {
    press_until(page, &[Key::Shift], selector).await;
}

async fn press_until(page: &OpenPage, held: &[Key], selector: &str) {
    page.browser.find(selector).await;
    for _ in 0..80 {
        let is_there = format!("return Boolean(document.activeElement?.matches(\"{selector}\"))");
        if page.browser.run(&is_there).await == json!(true) {
            return;
        }
        page.browser.press_with(held, &[key(Key::Tab)]).await;
    }
    panic!("{selector} cannot be reached by Tab");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_project_is_curated_by_mouse_and_by_keyboard_alike() {
    let page = open_large_project().await;
    let mouse = by_mouse(&page).await;
    let settings: Vec<&str> = mouse.iter().map(|(_, settings)| settings.as_str()).collect();
    let folder = "[[files]]\npath = \"pkg07/**\"\nauto_aggregate = true\nast_signatures = true\n";
    let symbol = "\n[[files]]\npath = \"pkg03/part05.py\"\nast_mask = { \"Part5.run\" = \"def\" }\n";
    let lines = "\n[[files.custom_slices]]\nstart_line = 2\nend_line = 2\ntag = \"hot\"\n";
    assert_eq!(settings[0], folder);
    assert_eq!(settings[1], format!("{folder}{symbol}"));
    assert!(settings[2].starts_with(&format!("{folder}{symbol}{lines}")), "{}", settings[2]);
    assert_eq!(settings[3..], [settings[2], settings[2], settings[1], settings[0], settings[2]]);
    // By hand, while the page is open: as if nothing had been curated.
    std::fs::remove_file(page.sandbox.path("slop.takes.toml")).unwrap();
    std::fs::remove_file(page.sandbox.path("slop.toml")).unwrap();
    page.browser.wait_until("document.querySelectorAll('.take-list li').length === 1").await;
    page.browser
        .wait_until("document.querySelector('.take-list').textContent.includes('nothing curated')")
        .await;
    assert_eq!(by_keyboard(&page).await, mouse);
    page.close().await;
}
