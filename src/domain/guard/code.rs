//! What JavaScript of the agent's own would do, as far as its words tell.
//!
//! It reads no grammar: quotes and comments cannot be told apart from expressions that only look
//! like them, and what hid there would pass. So every word counts wherever it stands, and what is
//! built at run time is held.
use crate::domain::guard::words::CodeWords;
use crate::domain::guard::{Class, Judgement};

pub(super) fn classify(code: &str, words: &CodeWords) -> Judgement {
    // A comment may part what belongs together, and may be none: both readings count.
    let (written, bare) = (judge(code, words), judge(&uncommented(code), words));
    if bare.class > written.class { bare } else { written }
}

fn judge(code: &str, words: &CodeWords) -> Judgement {
    let judged = |class, why: String| Judgement { class, why };
    if let Some(what) = hidden(code) {
        return judged(Class::Irreversible, format!("the code hides what it does: {what}"));
    }
    let names = names(code);
    if let Some(what) = names.iter().find_map(|name| acts(name, words)) {
        return judged(Class::Irreversible, format!("the code {what}"));
    }
    let fetches = || names.iter().filter(|name| name.text == "fetch");
    if fetches().any(sends) {
        return judged(Class::Irreversible, "the code fetches with more than an address".into());
    }
    if fetches().next().is_some() {
        return judged(Class::SoftWrite, "the code fetches an address".into());
    }
    match names.iter().find(|name| name.is_member() && assigned(name.after)) {
        Some(name) => judged(Class::SoftWrite, format!("the code sets '{}'", name.text)),
        None => judged(Class::Read, "the code only reads".into()),
    }
}

/// The code without what looks like a comment.
fn uncommented(code: &str) -> String {
    let mut bare = String::with_capacity(code.len());
    let mut left = code;
    while let Some(at) = left.find("/*").into_iter().chain(left.find("//")).min() {
        bare.push_str(&left[..at]);
        bare.push(' ');
        let (end, skip) = if left[at..].starts_with("/*") { ("*/", 2) } else { ("\n", 0) };
        let comment = &left[at + 2..];
        left = comment.find(end).map_or("", |end| &comment[end + skip..]);
    }
    bare + left
}

/// One name in the code, with what stands before and after it.
struct Name<'a> {
    text: &'a str,
    before: &'a str,
    after: &'a str,
}

impl Name<'_> {
    /// `x.name`, `x?.name`, `f().name`, `x[0].name`; not the `.name` of a selector.
    fn is_member(&self) -> bool {
        let Some(object) = self.before.trim_end().strip_suffix('.') else { return false };
        let object = object.trim_end_matches('?').trim_end();
        object.ends_with(|c: char| in_name(c) || matches!(c, ')' | ']' | '!'))
    }

    /// `["name"]`: the same as `.name`.
    fn is_key(&self) -> bool {
        let quote = |c: char| matches!(c, '"' | '\'' | '`');
        self.before.ends_with(quote) && self.after.starts_with(quote)
    }

    /// `const { name } = x`, `({ name: f } = x)`.
    fn is_taken(&self) -> bool {
        let opens = self.before.trim_end().ends_with(['{', ',']);
        opens
            && self.after.contains('}')
            && self.after.trim_start().starts_with(['}', ',', ':', '='])
    }
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn names(code: &str) -> Vec<Name<'_>> {
    let mut names = Vec::new();
    let mut from = 0;
    while let Some(start) = code[from..].find(in_name).map(|at| from + at) {
        let end = code[start..].find(|c| !in_name(c)).map_or(code.len(), |at| start + at);
        let (before, after) = (&code[..start], &code[end..]);
        names.push(Name { text: &code[start..end], before, after });
        from = end;
    }
    names
}

/// Ways to do something without saying its name.
fn hidden(code: &str) -> Option<&'static str> {
    let tight: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    let has = |ways: &[&str]| ways.iter().any(|way| tight.contains(way));
    if has(&["\\u", "\\x"]) {
        Some("letters are escaped")
    } else if has(&["](", "]?.(", "].call(", "].apply(", "].bind(", "]`"]) {
        Some("a function is looked up by a computed name")
    } else if has(&["window[", "self[", "globalThis[", "document[", "this["]) {
        Some("a global is looked up by a computed name")
    } else if has(&["'+'", "\"+\"", "'+\"", "\"+'", "`+`"]) {
        Some("text is put together from pieces")
    } else {
        None
    }
}

fn acts(name: &Name, words: &CodeWords) -> Option<String> {
    let any = |list: &[String]| list.iter().any(|word| word == name.text);
    let what = name.text;
    if any(&words.names) {
        return Some(format!("uses '{what}'"));
    }
    let after = name.after.trim_start();
    let called = after.starts_with(['(', '`']) || after.starts_with("?.(");
    if any(&words.calls) && (called || name.is_member() || name.is_key() || name.is_taken()) {
        return Some(format!("calls '{what}'"));
    }
    let object = name.before.trim_end().trim_end_matches(['.', '?']).trim_end();
    if matches!(what, "replace" | "assign") && object.ends_with("location") {
        return Some(format!("calls 'location.{what}'"));
    }
    let member = name.is_member() || what == "location";
    let set = (member && assigned(after)) || (name.is_key() && assigned_key(after));
    (any(&words.assigned) && set).then(|| format!("sets '{what}'"))
}

/// Whether something is put into what stands before: `=`, `+=`, `||=`, `++`; not `==` or `=>`.
fn assigned(after: &str) -> bool {
    let after = after.trim_start();
    if after.starts_with("++") || after.starts_with("--") {
        return true;
    }
    let operator =
        after.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '?', '<', '>']);
    // `<=` and `>=` compare.
    let compares = after.starts_with("<=") || after.starts_with(">=");
    let Some(value) = operator.strip_prefix('=') else { return false };
    !compares && !value.starts_with(['=', '>'])
}

fn assigned_key(after: &str) -> bool {
    let after = after.trim_start_matches(['"', '\'', '`']).trim_start();
    after.strip_prefix(']').is_some_and(assigned)
}

/// Whether a `fetch` may do more than read: options that say a method or a body, or that cannot be
/// seen, or a `fetch` that is handed on.
fn sends(fetch: &Name) -> bool {
    let Some(arguments) = fetch.after.trim_start().strip_prefix('(') else { return true };
    let Some(options) = second_argument(arguments) else { return true };
    options.is_some_and(|options| {
        let seen = options.trim_start().starts_with('{') && !options.contains("...");
        !seen || ["method", "body", "["].iter().any(|word| options.contains(word))
    })
}

/// What stands after the first argument in `a, b)`, if anything. None where the brackets do not
/// close.
fn second_argument(arguments: &str) -> Option<Option<&str>> {
    let mut depth = 0_usize;
    let mut second = None;
    for (at, c) in arguments.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => return Some(second.map(|second: usize| &arguments[second..at])),
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 && second.is_none() => second = Some(at + 1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::guard::Words;

    fn class(code: &str) -> Judgement {
        let words = Words::parse(include_str!("../../../config/guard.toml")).unwrap();
        classify(code, &words.code)
    }

    #[test]
    fn plain_reads_pass() {
        for code in [
            "document.title",
            "document.querySelectorAll('li').length",
            "[...document.querySelectorAll('a')].map(a => a.href)",
            "document.querySelector('button[type=submit]').textContent.trim()",
            "Array.from(document.querySelectorAll('tr'), row => row.innerText.split('\\t'))",
            "getComputedStyle(document.body).color == 'red'",
            "location.href",
            "const data = {}; const href = document.links[0].href; JSON.stringify({ data, href })",
            "document.body.innerText.replace(/ +/g, ' ')",
            "Object.assign({}, { a: 1 })",
            "localStorage.getItem('theme')",
            "(() => { let n = 0; for (const p of document.forms) n += p.elements.length; return n })()",
            "performance.now() >= 3",
            "document.querySelector('#price').dataset.price <= 10",
            "'http://shop.localhost/a'.length // how long",
            "window.scrollY",
        ] {
            let judged = class(code);
            assert_eq!(judged.class, Class::Read, "{code}: {}", judged.why);
        }
    }

    #[test]
    fn what_acts_or_hides_is_held() {
        for code in [
            "document.querySelector('button').click()",
            "document.querySelector('button')?.click?.()",
            "el . click ()",
            "el/**/.click/**/()",
            "el//\n.click//\n()",
            "/\"/; document.links[0].click(); /\"/",
            "/[/*]/; document.links[0].click()",
            "document.links[0]['click']()",
            "const f = document.links[0]['cli' + 'ck']; f()",
            "const k = 'x'; document.body[k]()",
            "const { click } = HTMLElement.prototype; click.call(x)",
            "document.forms[0].submit()",
            "document.forms[0].requestSubmit()",
            "HTMLFormElement.prototype.submit.call(document.forms[0])",
            "el.dispatchEvent(new MouseEvent('mousedown'))",
            "el.cl\\u0069ck()",
            "fetch('/send', { method: 'POST', body: 'a' })",
            "fetch('/send', options)",
            "fetch('/send', { ...options })",
            "fetch('/send', { ['meth' + 'od']: 'POST' })",
            "const f = fetch; f('/send', o)",
            "new XMLHttpRequest()",
            "navigator.sendBeacon('/x', 'a')",
            "location = 'http://evil.localhost/'",
            "window.location.href = '/x'",
            "location.replace('/x')",
            "location.assign('/x')",
            "location.reload()",
            "history.back()",
            "window.open('/x')",
            "window['op' + 'en']('/x')",
            "eval('1')",
            "new Function('return 1')()",
            "setTimeout(\"document.forms[0].submit()\")",
            "new Image().src = '/x?' + document.title",
            "document.querySelector('img').src = '/x'",
            "document.querySelector('img')['src'] = '/x'",
            "document.body.innerHTML += '<img>'",
            "document.cookie = 'a=b'",
            "localStorage.removeItem('draft')",
            "import('/x.js')",
        ] {
            let judged = class(code);
            assert_eq!(judged.class, Class::Irreversible, "{code}: {}", judged.why);
        }
    }

    #[test]
    fn what_can_be_changed_back_is_a_soft_write() {
        for code in [
            "document.querySelector('input').value = 'a'",
            "document.body.style.zoom = 2",
            "window.count++",
            "(await fetch('/prices.json')).status",
            "fetch('/prices.json', { headers: { accept: 'text/plain' } }).then(r => r.text())",
        ] {
            let judged = class(code);
            assert_eq!(judged.class, Class::SoftWrite, "{code}: {}", judged.why);
        }
        assert_eq!(class("el.value = 'a'").why, "the code sets 'value'");
    }
}
