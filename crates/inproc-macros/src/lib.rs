//! `#[threadbare::test]`: a test whose body is explored.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Makes a function a test whose body `threadbare` repeats under other interleavings.
///
/// Options of the hunt may be given as calls of its builder: `#[threadbare::test(executions(10_000), seed(7))]`. The
/// function takes no arguments and may return what a `#[test]` may, such as a `Result`; attributes such as
/// `#[should_panic]` and `#[ignore]` go along.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    expand(&options, item)
        .unwrap_or_else(|message| format!("::core::compile_error!({message:?});").parse().unwrap_or_default())
}

fn expand(options: &TokenStream, item: TokenStream) -> Result<TokenStream, String> {
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let is_function = tokens.iter().any(|token| is_word(token, "fn"));
    let body = match tokens.pop() {
        Some(TokenTree::Group(body)) if is_function && body.delimiter() == Delimiter::Brace => body,
        _ => return Err("#[threadbare::test] goes on a function with a body".to_string()),
    };
    if tokens.iter().any(|token| is_word(token, "async")) {
        return Err("#[threadbare::test] does not run async functions: block on them inside".to_string());
    }
    let takes_something = tokens.iter().any(|token| {
        matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis && !group.stream().is_empty())
    });
    if takes_something {
        return Err("the function of #[threadbare::test] takes nothing".to_string());
    }
    let calls: String = split(options).iter().map(|call| format!(".{call}")).collect();
    let (run, closure, end) = match returned(&tokens) {
        Some(result) => ("run_returning", format!("|| -> {result}"), ""),
        None => ("run", "||".to_string(), ";"),
    };
    let parsed = |code: &str| code.parse::<TokenStream>().map_err(|error| format!("bad options: {error}"));
    // The body goes in as it is in the source: whatever is said of it is said of its own lines.
    let mut closure = parsed(&closure)?;
    closure.extend([TokenTree::Group(body)]);
    let mut call = parsed(&format!("::threadbare::Hunt::new(){calls}.{run}"))?;
    call.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, closure))]);
    call.extend(parsed(end)?);
    let mut test: TokenStream = "#[::core::prelude::v1::test]".parse().map_err(|error| format!("{error}"))?;
    test.extend(tokens);
    test.extend([TokenTree::Group(Group::new(Delimiter::Brace, call))]);
    Ok(test)
}

/// What a function returns, if its head says so.
fn returned(head: &[TokenTree]) -> Option<TokenStream> {
    let arrow = head.windows(2).rposition(|pair| is_mark(&pair[0], '-') && is_mark(&pair[1], '>'))?;
    let result = head[arrow + 2..].iter().take_while(|token| !is_word(token, "where"));
    Some(result.cloned().collect())
}

fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(name) if name.to_string() == word)
}

fn is_mark(token: &TokenTree, mark: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == mark)
}

/// The options, which commas part.
fn split(options: &TokenStream) -> Vec<String> {
    let tokens: Vec<TokenTree> = options.clone().into_iter().collect();
    let parts = tokens.split(|token| is_mark(token, ','));
    parts
        .map(|part| part.iter().cloned().collect::<TokenStream>().to_string())
        .filter(|call| !call.is_empty())
        .collect()
}
