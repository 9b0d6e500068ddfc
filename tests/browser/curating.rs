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
