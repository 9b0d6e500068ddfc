//! What the page shows: live, confined, and honest about its connection.

use std::process::Command;

use fantoccini::key::Key;
use serde_json::{Value, json};

use super::OpenPage;
use super::driver::Browser;
use super::sandbox::Sandbox;

#[tokio::test(flavor = "multi_thread")]
async fn the_page_follows_the_files() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    page.sandbox.write("src/new.py", "def five():\n    return 5\n");
    browser.wait_until("document.querySelectorAll('.file').length === 5").await;
    page.sandbox.git(&["rm", "-q", "-f", "src/c.py"]);
    browser.wait_until("document.querySelectorAll('.file').length === 4").await;
    // Names are shown as text, whatever they are.
    page.sandbox.write("<img src=x onerror=complaints=1>.py", "def six():\n    return 6\n");
    page.sandbox.write("a\u{202e}b.py", "def seven():\n    return 7\n");
    browser.wait_until("document.querySelectorAll('.file').length === 6").await;
    let names = browser.text(".rows").await;
    assert!(
        names.contains("<img src=x onerror=complaints=1>.py") && names.contains("a<U+202E>b.py"),
        "{names}"
    );
    assert_eq!(browser.run("return document.querySelectorAll('img').length").await, json!(0));
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_is_right_while_hundreds_of_files_change() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    browser.run("document.querySelector('.files .file').click()").await;
    for round in 0..5 {
        for file in 0..200 {
            let text = "def more():\n    return 0\n".repeat(1 + (file + round) % 7);
            page.sandbox.write(format!("many/f{file:03}.py"), text);
        }
        for file in (round..200).step_by(7) {
            std::fs::remove_file(page.sandbox.path(format!("many/f{file:03}.py"))).unwrap();
        }
    }
    // What the page shows in the end is what is there: 4 files, and 200 without every seventh from the fifth on.
    let files = 4 + 200 - (4..200).step_by(7).count();
    browser
        .wait_until(&format!(
            "document.querySelector('#selected').textContent.includes('of {files} selected')"
        ))
        .await;
    let lines = "[...document.querySelectorAll('.files .file')].find(row => row.children[1].textContent === 'f001.py').children[5].textContent";
    browser.wait_until(&format!("{lines} === '12'")).await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_row_of_a_changed_file_is_drawn_again() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    let files = "[...document.querySelectorAll('.files .file')]";
    browser.wait_until(&format!("{files}.every(row => row.dataset.state === 'fresh')")).await;
    browser.run(&format!("{files}.forEach(row => {{ row.isOld = true }})")).await;
    page.sandbox.write("src/c.py", "def three():\n    return 3\n\n\ndef more():\n    pass\n");
    let changed = format!("{files}.find(row => row.children[1].textContent === 'c.py')");
    browser.wait_until(&format!("{changed}.children[5].textContent === '6'")).await;
    let new = format!("return {files}.filter(row => !row.isOld).map(row => row.children[1].textContent)");
    assert_eq!(browser.run(&new).await, json!(["c.py"]));
    // Its mark goes after a while, which draws no other row either.
    browser.wait_until(&format!("!{changed}.matches('.changed')")).await;
    assert_eq!(browser.run(&new).await, json!(["c.py"]));
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_answer_does_not_replace_a_newer_one() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    // Holds back the first table that is asked for.
    let hold = "const real = fetch; window.fetch = async (path, options) => { \
        const answer = await real(path, options); \
        if (path !== '/v1/table' || window.release) return answer; \
        const body = await answer.json(); \
        await new Promise(resolve => { window.release = resolve; }); \
        return { ok: true, status: 200, json: async () => { setTimeout(() => { window.isRead = true; }); return body; } }; \
    };";
    browser.run(hold).await;
    let why = |name: &str| {
        format!(
            "[...document.querySelectorAll('.files .file')].find(row => row.children[1].textContent === '{name}').children[4].textContent"
        )
    };
    browser.fill("#choice-focus", "a.py").await;
    browser.wait_until("window.release").await;
    browser.fill("#choice-focus", "src/b.py").await;
    browser.wait_until(&format!("{} === 'focus'", why("b.py"))).await;
    browser.run("release()").await;
    browser.wait_until("window.isRead").await;
    assert_eq!(browser.run(&format!("return {}", why("b.py"))).await, json!("focus"));
    assert_ne!(browser.run(&format!("return {}", why("a.py"))).await, json!("focus"));
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_a_zoom_of_400_percent_all_can_be_reached_without_scrolling_sideways() {
    // What is left of 1,280 by 1,024 pixels.
    let Some(browser) = Browser::start_of_size(320, 256).await else { return };
    let sandbox = Sandbox::repo();
    sandbox.write("src/b.py", "class Two:\n    def run(self):\n        return 2\n");
    let page = OpenPage::of_in(sandbox, browser).await;
    let browser = &page.browser;
    assert_eq!(browser.run("return [innerWidth, innerHeight]").await, json!([320, 256]));
    for (view, part) in [
        ("files", ".file"),
        ("files/src%2Fb.py", ".symbol-row"),
        ("document", ".line.heading"),
        ("budget", ".budget .folder"),
        ("cache", "#verify"),
        ("takes", ".take-list li"),
        ("daemon", "#stop"),
    ] {
        browser.run(&format!("location.hash = '{view}'")).await;
        browser.find(part).await;
        let wide = "return [...document.querySelectorAll('body *')].filter(part => innerWidth < Math.floor(part.getBoundingClientRect().right) && !part.closest('.rows, pre, table')).map(part => part.outerHTML)";
        assert_eq!(browser.run(wide).await, json!([]), "{view}");
        let low = "return [...document.querySelectorAll('.rows')].filter(list => list.offsetParent && list.clientHeight < 52).length";
        assert_eq!(browser.run(low).await, json!(0), "{view}: a list with less than two rows in sight");
    }
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_view_shows_what_the_api_answers() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    browser.click("#to-document").await;
    browser.wait_until("document.querySelector('.line.heading')?.textContent.startsWith('#')").await;
    assert!(browser.text(".blocks").await.contains("src/b.py"));
    browser.click("#tier-1").await;
    browser.wait_until("document.querySelector('#tier-1').getAttribute('aria-selected') === 'true'").await;
    browser.click("#to-budget").await;
    browser.wait_until("document.querySelector('.budget .rows').textContent.includes('src/')").await;
    browser.click("#to-cache").await;
    // A document that is given meanwhile is noticed.
    browser.wait_until("document.querySelector('.strips').textContent.includes('No agent was given')").await;
    page.sandbox.stdout_of(&["aggregate", "--tier", "3", "--name", "worker", "--stdout"]);
    browser.wait_until("document.querySelector('.strips').textContent.includes('the first document')").await;
    browser.click("#clear-summaries").await;
    browser.click("dialog button.danger").await;
    browser.wait_until("document.querySelector('#cache-report').textContent.startsWith('cleared')").await;
    browser.click("#to-takes").await;
    browser
        .wait_until("document.querySelector('.takes').textContent.includes('Nothing was edited yet')")
        .await;
    browser.click("#to-daemon").await;
    browser.wait_until("document.querySelector('.daemon').textContent.includes('folders by events')").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_is_gone_from_the_address_and_works_once() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    assert_eq!(browser.run("return location.hash").await, json!(""));
    let ticket = page.ticket();
    let asked = "const answer = await fetch('/ui/session', {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify({ticket: arguments[0]})}); return answer.status";
    for status in [200, 403] {
        let hash = ticket.rsplit_once('#').unwrap().1;
        let script = asked.replace("arguments[0]", &format!("'{hash}'"));
        assert_eq!(browser.run(&format!("return (async () => {{ {script} }})()")).await, json!(status));
    }
    assert_eq!(browser.run("return document.cookie").await, json!(""));
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_connection_is_shown_and_nothing_is_hidden() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    assert_eq!(page.sandbox.slop(&["daemon", "stop"]).code, 0);
    browser.wait_until("document.querySelector('#live').textContent.includes('not connected')").await;
    assert_eq!(browser.run("return document.querySelectorAll('.file').length").await, json!(4));
    browser.run("document.querySelector('.file').click()").await;
    browser.wait_until("document.querySelector('#batch-full').disabled").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_goes_on_when_a_killed_daemon_is_back() {
    let page = OpenPage::with_settings("[ui]\nlisten = \"127.0.0.1:PORT\"\n").await;
    let browser = &page.browser;
    let status: Value =
        serde_json::from_str(&page.sandbox.stdout_of(&["daemon", "status", "--json"])).unwrap();
    let pid = status["data"]["pid"].as_u64().unwrap().to_string();
    assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    browser.wait_until("document.querySelector('#live').textContent.includes('not connected')").await;
    page.sandbox.write("src/late.py", "def five():\n    return 5\n");
    assert_eq!(browser.run("return document.querySelectorAll('.file').length").await, json!(4));
    // Its sessions ended with the daemon; a new one is opened by its user.
    browser.open_in_other_tab(&page.ticket()).await;
    browser.wait_until("document.querySelector('#live').textContent.includes('live')").await;
    browser.wait_until("document.querySelectorAll('.file').length === 5").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_content_security_policy_stops_what_is_not_the_pages_own() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    browser.run("window.violations = []; addEventListener('securitypolicyviolation', event => violations.push(event.effectiveDirective))").await;
    browser.run("const script = document.createElement('img'); script.src = 'http://127.0.0.1:1/x.png'; document.body.append(script)").await;
    browser.run("fetch('http://127.0.0.1:1/').catch(() => {})").await;
    browser.wait_until("violations.includes('img-src') && violations.includes('connect-src')").await;
    let html = "try { document.body.innerHTML = '<b>x</b>'; return 'set' } catch { return 'refused' }";
    assert_eq!(browser.run(html).await, json!("refused"));
    let worker = "try { new Worker('/ui/x.js'); return 'made' } catch { return 'refused' }";
    assert_eq!(browser.run(worker).await, json!("refused"));
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_ranks_files_and_says_what_it_changes() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    browser.fill("#choice-task", "why does three return 3").await;
    browser.wait_until("document.querySelector('.hits li').textContent.includes('src/c.py')").await;
    let first = browser.text(".hits li").await;
    assert!(first.contains("text "), "the reasons are named: {first}");
    browser.click("#tab-changes").await;
    browser
        .wait_until("document.querySelector('#task-body .facts').textContent.includes('tokens instead of')")
        .await;
    // A file is inspected in place of the task, which comes back.
    browser.click("#tab-ranked").await;
    browser.click(".hits .link").await;
    browser.find("#tab-why[aria-selected]").await;
    browser.click("#tab-why").await;
    browser.wait_until("document.querySelector('#inspector-body').textContent.includes('Rank ')").await;
    browser.click("#close-inspector").await;
    browser.wait_until("!document.querySelector('#task-pane').hidden").await;
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_budget_is_a_tree_for_the_keyboard() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    let names = "[...document.querySelectorAll('.budget .rows [data-row]')].map(row => row.children[0].textContent.replace(/[▸▾]/, '')).join(' ')";
    browser.press(&['3']).await;
    browser.wait_until(&format!("{names} === 'src/ a.py'")).await;
    browser.press(&[char::from(Key::Right)]).await;
    browser.wait_until(&format!("{names}.split(' ').length === 5")).await;
    assert_eq!(
        browser.run("return document.querySelector('.budget .current').getAttribute('aria-expanded')").await,
        json!("true")
    );
    // From a file to its folder, into the folder, and out again.
    browser.press(&['j', char::from(Key::Left), char::from(Key::Enter)]).await;
    browser.wait_until(&format!("!{names}.includes('a.py')")).await;
    browser.press(&[char::from(Key::Backspace)]).await;
    browser.wait_until(&format!("{names}.endsWith('a.py')")).await;
    browser.click("#sort-name").await;
    browser.wait_until(&format!("{names}.startsWith('a.py')")).await;
    assert_eq!(
        browser.run("return document.querySelector('[role=columnheader].name').ariaSort").await,
        json!("ascending")
    );
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_was_shown_is_there_at_its_place_and_what_has_changed_since_is_marked() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    let functions =
        |more: &str| (0..300).fold(String::from(more), |text, n| format!("{text}def f{n}():\n    pass\n\n"));
    page.sandbox.write("src/long.py", &functions(""));
    browser.wait_until("document.querySelector('.files').textContent.includes('long.py')").await;
    browser.click("#to-document").await;
    browser
        .wait_until("document.querySelector('.document .blocks').textContent.includes('src/long.py')")
        .await;
    let list = "document.querySelector('.document .split > .rows')";
    let blocks = "document.querySelector('.document .blocks')";
    browser
        .run(&format!("{list}.scrollTop = 1000; {blocks}.style.height = '40px'; {blocks}.scrollTop = 9"))
        .await;
    browser
        .wait_until(&format!("{list}.querySelector('.line')?.textContent && {list}.scrollTop === 1000"))
        .await;
    browser.click("#to-files").await;
    browser.wait_until("document.querySelector('.files .file')").await;
    // Nothing is asked for before lines are shown.
    browser.run("window.real = fetch; window.fetch = () => new Promise(() => {})").await;
    browser.click("#to-document").await;
    browser.wait_until(&format!("/f[0-9]+/.test({list}?.textContent)")).await;
    let tops = format!("return [{list}.scrollTop, {blocks}.scrollTop]");
    assert_eq!(browser.run(&tops).await, json!([1000, 9]));
    browser.run("window.fetch = real").await;
    browser.click("#to-files").await;
    page.sandbox.write("src/long.py", &functions("def added():\n    pass\n\n"));
    browser.wait_until("[...document.querySelectorAll('.files .file')].some(row => row.textContent.includes('long.py') && row.children[5].textContent === '903')").await;
    browser.click("#to-document").await;
    browser.wait_until(&format!("{list}?.querySelector('.line.changed')")).await;
    // That of another tier is not shown in between.
    browser.click("#to-files").await;
    browser.run("const tier = document.querySelector('#choice-tier'); tier.value = '1'; tier.dispatchEvent(new Event('change'))").await;
    browser.run("window.fetch = () => new Promise(() => {})").await;
    browser.click("#to-document").await;
    browser.wait_until("document.querySelector('#kept').textContent.startsWith('Composing')").await;
    assert_eq!(browser.run(&format!("return {list}.querySelectorAll('.line').length")).await, json!(0));
    page.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_of_each_tier_is_measured_and_one_for_a_reader_has_only_changes() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    page.sandbox.stdout_of(&["aggregate", "--tier", "3", "--name", "worker", "--stdout"]);
    browser.click("#to-document").await;
    browser.wait_until("[1, 2, 3, 4].every(tier => / [0-9,]+$/.test(document.querySelector(`#tier-${tier}`).textContent))").await;
    page.sandbox.write("src/c.py", "def three():\n    return 33\n");
    browser.wait_until("document.querySelector('.line.changed')").await;
    browser.run("const since = document.querySelector('#since'); since.value = 'worker'; since.dispatchEvent(new Event('change'))").await;
    browser.wait_until("document.querySelector('#kept').textContent.startsWith('what has changed since worker was given: 1 file,')").await;
    // The body of a request is what the command line makes.
    let format = "const format = document.querySelector('#format'); format.value = 'openai'";
    browser.run(&format!("{format}; window.saved = []; URL.createObjectURL = blob => {{ blob.text().then(text => saved.push(text)); return location.href }}")).await;
    browser.run("document.querySelector('#since').value = ''").await;
    browser.click("#download").await;
    browser.wait_until("JSON.parse(saved[0]).messages.length > 0").await;
    page.close().await;
}
