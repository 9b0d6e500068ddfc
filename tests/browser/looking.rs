//! What the page shows: live, confined, and honest about its connection.

use serde_json::json;

use super::OpenPage;

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
async fn every_view_shows_what_the_api_answers() {
    let page = OpenPage::new().await;
    let browser = &page.browser;
    browser.click("#to-document").await;
    browser.wait_until("document.querySelector('.line.heading')?.textContent.startsWith('#')").await;
    assert!(browser.text(".blocks").await.contains("src/b.py"));
    browser.click("#tier-1").await;
    browser.wait_until("document.querySelector('#tier-1').getAttribute('aria-selected') === 'true'").await;
    browser.click("#to-budget").await;
    browser.wait_until("document.querySelector('.budget .list').textContent.includes('src/')").await;
    browser.click("#to-cache").await;
    browser.click("#clear-summaries").await;
    browser.click("dialog button.danger").await;
    browser.wait_until("document.querySelector('#cache-report').textContent.startsWith('cleared')").await;
    browser.click("#to-history").await;
    browser
        .wait_until("document.querySelector('.history').textContent.includes('Nothing was edited yet')")
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
