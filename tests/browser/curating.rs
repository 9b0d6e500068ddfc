//! Curation by mouse and by keyboard: what is done on the page is in `slop.toml`, and can be taken back.

use fantoccini::key::Key;

use super::OpenPage;

/// Returns a script that finds the row of a file by its name.
fn row(name: &str) -> String {
    format!(
        "[...document.querySelectorAll('.rows .file')].find(row => row.children[1].textContent === '{name}')"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selection_by_mouse_becomes_entries_and_is_undone() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    // From the first file to the last one with Shift, as a range.
    browser.run(&format!("{}.click()", row("b.py"))).await;
    let click = "new MouseEvent('click', {bubbles: true, shiftKey: true})";
    browser.run(&format!("{}.dispatchEvent({click})", row("c.py"))).await;
    browser
        .wait_until("document.querySelector('#selected').textContent === '2 of 4 selected → 2 entries'")
        .await;
    browser.click("#batch-full").await;
    browser.wait_until(&format!("{}.textContent.includes('force full')", row("b.py"))).await;
    let settings = page.settings();
    assert!(
        settings.contains("path = \"src/b.py\"") && settings.contains("path = \"src/c.py\""),
        "{settings}"
    );
    assert_eq!(settings.matches("force_full = true").count(), 2, "{settings}");
    assert!(!settings.contains("a.py"), "{settings}");
    browser.click("#undo").await;
    // The row, too, because what is done again is awaited by it.
    let is_undone = format!("!{}.textContent.includes('force full')", row("c.py"));
    browser.wait_until(&format!("!document.querySelector('#redo').disabled && {is_undone}")).await;
    assert!(!page.settings().contains("force_full"), "{}", page.settings());
    browser.click("#redo").await;
    browser.wait_until(&format!("{}.textContent.includes('force full')", row("c.py"))).await;
    assert_eq!(page.settings(), settings);
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_keyboard_alone_filters_selects_folds_and_edits() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    browser.press(&['/']).await;
    browser.press(&['d', 'e', 'e', 'p', '/']).await;
    browser.wait_until("document.querySelectorAll('.file').length === 1").await;
    // Out of the field, then past the folder to its file.
    browser.press(&[char::from(Key::Escape), 'j', 'j', 's']).await;
    browser.wait_until(&format!("{}.textContent.includes('ast')", row("d.py"))).await;
    assert!(page.settings().contains("path = \"src/deep/d.py\"\n"), "{}", page.settings());
    assert!(page.settings().contains("ast_signatures = true"), "{}", page.settings());
    browser.press(&['z']).await;
    browser.wait_until("!document.querySelector('#redo').disabled").await;
    assert!(!page.settings().contains("ast_signatures"), "{}", page.settings());

    browser.run("document.querySelector('#filter').value = ''; document.querySelector('#filter').dispatchEvent(new Event('input'))").await;
    browser.wait_until("document.querySelectorAll('.file').length === 4").await;
    browser.press(&[char::from(Key::Home), 'j', 'j', char::from(Key::Left)]).await;
    browser.wait_until("document.querySelectorAll('.file').length === 1").await;
    // A folded folder is selected with all that is in it, by Shift from the file before it.
    browser.press(&['k']).await;
    browser.press_with(&[Key::Shift], &[char::from(Key::Down)]).await;
    browser.wait_until("document.querySelector('#selected').textContent.startsWith('4 of 4 selected')").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn symbols_are_masked_and_lines_are_marked() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    browser.run("location.hash = 'files/src%2Fb.py'").await;
    browser.click("input[value=def][aria-label='Def Two.run']").await;
    browser.wait_until("document.querySelector('#preview').textContent.includes('return 2')").await;
    browser.wait_until("!document.querySelector('#preview').textContent.includes('pass')").await;
    page.settings_until(|settings| settings.contains("\"Two.run\" = \"def\"")).await;
    browser.click("#clear-mask").await;
    page.settings_until(|settings| !settings.contains("Two.run")).await;

    browser.click("#tab-slices").await;
    browser.click(".lines [data-row='1']").await;
    browser.press_with(&[Key::Shift], &[char::from(Key::Down)]).await;
    browser.click("#slice-add").await;
    browser.find(".slice").await;
    page.settings_until(|settings| settings.contains("start_line = 2") && settings.contains("end_line = 3"))
        .await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_else_edits_is_not_overwritten() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    let by_hand = "# mine\n[[files]]\npath = \"a.py\"\nforce_full = true\n";
    browser.run(&format!("{}.click()", row("c.py"))).await;
    // Written by hand between two answers, so that the page still names the revision before it.
    browser.run("window.fetched = window.fetch; window.fetch = (path, ...rest) => path.includes('/v1/curation') && !path.includes('edit') ? new Promise(() => {}) : window.fetched(path, ...rest)").await;
    page.sandbox.write("slop.toml", by_hand);
    browser.click("#batch-sig").await;
    browser.run("window.fetch = window.fetched").await;
    // The new file may also be noticed first, as one that the table does not have.
    browser.wait_until("/edited elsewhere|files came or went/.test(document.querySelector('#banner').textContent) || document.querySelector('#banner').hidden").await;
    assert!(page.settings().starts_with(by_hand), "{}", page.settings());
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn takes_are_copied_switched_renamed_and_deleted() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    page.sandbox.write("slop.toml", "# mine\n[[files]]\npath = \"a.py\"\nforce_full = true\n");
    browser.click("#to-takes").await;
    browser.wait_until("document.querySelector('.takes').textContent.includes('1 entry')").await;
    browser.click("#copy-0").await;
    browser.fill("#answer", "for review").await;
    browser.click("#switch-1").await;
    browser.wait_until("document.querySelector('.take-list .now b').textContent === 'for review'").await;
    // What is edited now is edited in this take alone.
    browser.click("#to-files").await;
    browser.run(&format!("{}.click()", row("c.py"))).await;
    browser.click("#batch-full").await;
    let settings = page.settings_until(|settings| settings.contains("src/c.py")).await;
    assert!(settings.starts_with("# mine"), "{settings}");
    let others = page.sandbox.read("slop.takes.toml");
    assert!(others.contains("a.py") && !others.contains("c.py"), "{others}");
    browser.run("location.hash = 'takes'").await;
    browser.click("#rename-0").await;
    browser.fill("#answer", "review").await;
    browser.wait_until("document.querySelector('.take-list .now b').textContent === 'review'").await;
    // The take that is not current can be deleted, and it is said what is lost.
    browser.click("#delete-1").await;
    browser.wait_until("document.querySelector('dialog').textContent.includes('It has 1 entry')").await;
    browser.click("dialog button.danger").await;
    browser.wait_until("document.querySelectorAll('.take-list li').length === 1").await;
    assert!(!page.sandbox.read("slop.takes.toml").contains("a.py"));
    assert!(page.settings().contains("src/c.py"));
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_documents_are_made_for_is_kept_in_the_settings_and_followed() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    assert_eq!(browser.run("return document.querySelector('#choice-keep')").await, serde_json::json!(null));
    browser.run("const tier = document.querySelector('#choice-tier'); tier.value = '1'; tier.dispatchEvent(new Event('change'))").await;
    browser.fill("#choice-budget", "5000").await;
    assert_eq!(page.settings(), "", "a choice is of this page alone until it is kept");
    browser.click("#choice-keep").await;
    let settings = page.settings_until(|settings| settings.contains("budget_tokens = 5000")).await;
    assert!(settings.contains("[document]") && settings.contains("tier = 1"), "{settings}");
    browser.wait_until("!document.querySelector('#choice-keep')").await;
    browser.wait_until("document.querySelector('#choice-tier').selectedOptions[0].textContent === '1 orchestrator (slop.toml)'").await;
    // Whoever edits it, the page follows.
    page.sandbox.write("slop.toml", "[document]\ntier = 4\n");
    browser
        .wait_until(
            "document.querySelector('#choice-tier').selectedOptions[0].textContent.startsWith('4 QA')",
        )
        .await;
    browser.click("#to-document").await;
    browser.wait_until("document.querySelector('#tier-4').getAttribute('aria-selected') === 'true'").await;
    browser.click("#to-takes").await;
    browser.click("#unset-tier").await;
    page.settings_until(|settings| !settings.contains("tier = 4")).await;
    page.close().await;
}

/// A PNG of one pixel.
const PIXEL: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xff\xff?\0\x05\xfe\x02\xfe\r\xefF\xb8\0\0\0\0IEND\xaeB`\x82";

#[tokio::test(flavor = "multi_thread")]
async fn screenshots_are_shown_ordered_and_missing_ones_named() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    page.sandbox.write("shots/one.png", PIXEL);
    page.sandbox.write("shots/text.png", "not an image");
    browser.click("#to-takes").await;
    for path in ["shots/text.png", "shots/gone.png", "shots/one.png"] {
        browser.fill("#screenshot-path", path).await;
        page.settings_until(|settings| settings.contains(path)).await;
        browser.wait_until("document.querySelector('#screenshot-path').value === ''").await;
    }
    browser.wait_until("document.querySelector('.shots img')?.naturalWidth === 1").await;
    let shots = browser.text(".shots").await;
    assert!(shots.contains("not a PNG, JPEG, GIF or WebP") && shots.contains("no such file"), "{shots}");
    browser.click("#up-2").await;
    browser
        .wait_until("document.querySelectorAll('.shots li')[1].textContent.includes('shots/one.png')")
        .await;
    browser.click("#up-1").await;
    browser.wait_until("document.querySelector('.shots li').textContent.includes('shots/one.png')").await;
    browser.click("#unshot-1").await;
    let settings = page.settings_until(|settings| !settings.contains("text.png")).await;
    assert!(settings.contains("[\"shots/one.png\", \"shots/gone.png\"]"), "{settings}");
    page.close().await;
}
