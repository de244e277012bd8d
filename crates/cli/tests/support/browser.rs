//! A browser without a window, driven as the WebDriver standard says, with no more of it than the tests need.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// Set where a test must not be left out for want of a browser.
const REQUIRED: &str = "THREADBARE_BROWSER";

/// Flags that let it run anywhere, and keep it from calling anybody and from leaving a helper behind.
const FLAGS: [&str; 10] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
];

/// A browser that does not end within this time is killed.
const TIME_TO_END: Duration = Duration::from_secs(20);

/// One browser at a time: whoever ends one ends all processes of browsers that are left to this one.
static ONLY_ONE: Mutex<()> = Mutex::new(());

/// A browser with one window.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// All that the browser and its driver write is in here.
    _folder: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Browser {
    /// Starts one; none, said loudly, if there is no `chromedriver` and none is required.
    pub fn start() -> Option<Browser> {
        // A test that failed has cleared up all the same.
        let turn = ONLY_ONE.lock().unwrap_or_else(PoisonError::into_inner);
        adopt_orphans();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new("chromedriver");
        for home in ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"] {
            command.env(home, folder.path());
        }
        command.arg("--port=0").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut driver = match command.spawn() {
            Ok(driver) => driver,
            Err(error) if std::env::var_os(REQUIRED).is_none() => {
                // Past the test harness, which keeps to itself what a passing test prints with macros.
                let _ = writeln!(
                    std::io::stderr(),
                    "\n*** SKIPPED: the page was opened in no browser, as chromedriver cannot be started ({error}).\n\
                     *** Install it (Debian: apt-get install chromium chromium-driver).\n"
                );
                return None;
            }
            Err(error) => panic!("{REQUIRED} is set, and chromedriver cannot be started: {error}"),
        };
        let stdout = BufReader::new(driver.stdout.take().expect("its output"));
        let port = printed_port(stdout);
        let mut flags: Vec<String> = FLAGS.map(String::from).to_vec();
        flags.push(format!("--user-data-dir={}", folder.path().join("profile").display()));
        flags.push("--window-size=1400,1000".to_string());
        let mut browser = Browser { driver, port, session: String::new(), _folder: folder, _turn: turn };
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": flags },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = browser.ask("POST", "/session", &wanted);
        browser.session = session["sessionId"].as_str().expect("a session").to_string();
        Some(browser)
    }

    /// Opens a file.
    pub fn open(&self, file: &Path) {
        self.command("POST", "/url", &json!({ "url": format!("file://{}", file.display()) }));
    }

    /// Gives the window another size.
    pub fn resize(&self, width: u32, height: u32) {
        self.command("POST", "/window/rect", &json!({ "width": width, "height": height }));
    }

    /// Runs a script in the page, and returns what it returns.
    pub fn script(&self, script: &str) -> Value {
        self.command("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Presses a key where the page listens.
    pub fn press(&self, key: &str) {
        let key = |kind: &str| json!({ "type": kind, "value": key });
        let keys = json!({ "type": "key", "id": "keys", "actions": [key("keyDown"), key("keyUp")] });
        self.command("POST", "/actions", &json!({ "actions": [keys] }));
    }

    /// Moves the pointer over an element, and clicks it if wanted.
    pub fn point(&self, selector: &str, click: bool) {
        let found = self.command("POST", "/element", &json!({ "using": "css selector", "value": selector }));
        let mut actions =
            vec![json!({ "type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": found })];
        if click {
            actions.push(json!({ "type": "pointerDown", "button": 0 }));
            actions.push(json!({ "type": "pointerUp", "button": 0 }));
        }
        let mouse = json!({ "type": "pointer", "id": "mouse", "actions": actions });
        self.command("POST", "/actions", &json!({ "actions": [mouse] }));
    }

    /// Drags what is at the middle of an element to the side.
    pub fn drag(&self, selector: &str, across: i32) {
        let found = self.command("POST", "/element", &json!({ "using": "css selector", "value": selector }));
        let actions = json!([
            { "type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": found },
            { "type": "pointerDown", "button": 0 },
            { "type": "pointerMove", "duration": 0, "x": across, "y": 0, "origin": "pointer" },
            { "type": "pointerUp", "button": 0 },
        ]);
        let mouse = json!({ "type": "pointer", "id": "mouse", "actions": actions });
        self.command("POST", "/actions", &json!({ "actions": [mouse] }));
    }

    /// What the page complained of since the last time.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.command("POST", "/se/log", &json!({ "type": "browser" }));
        log.as_array().expect("a list").iter().map(|entry| entry["message"].to_string()).collect()
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        self.ask(method, &format!("/session/{}{path}", self.session), body)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.try_to_ask(method, path, body, None).expect("the driver answers");
        let value = &answer["value"];
        assert!(value.get("error").is_none(), "{method} {path} {body}: {value}");
        value.clone()
    }

    /// Asks without a panic if there is no answer, or none in time.
    fn try_to_ask(
        &self,
        method: &str,
        path: &str,
        body: &Value,
        time: Option<Duration>,
    ) -> io::Result<Value> {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(time)?;
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )?;
        answer(BufReader::new(stream))
    }
}

impl Drop for Browser {
    /// Whether the test passed or not, no process and no file stays. A panic here would hide why it failed.
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let path = format!("/session/{}", self.session);
            let _ = self.try_to_ask("DELETE", &path, &json!({}), Some(TIME_TO_END));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        // Each that ends leaves its own children to us.
        loop {
            let left = orphans();
            if left.is_empty() {
                break;
            }
            left.into_iter().for_each(end);
        }
    }
}

/// Has this process, and not the system's first one, look after what the browser leaves behind: its helpers outlive it.
fn adopt_orphans() {
    // SAFETY: it changes nothing but who becomes the parent of orphans.
    let done = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
    assert_eq!(done, 0, "{}", io::Error::last_os_error());
}

/// The processes of a browser that are children of this one.
fn orphans() -> Vec<libc::pid_t> {
    let own = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_orphan = |process: &libc::pid_t| {
        let about = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // `24678 (chrome_crashpad) S 1 …`
        let name = about.split_once('(').map_or("", |(_, rest)| rest);
        let parent = about.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1));
        name.starts_with("chrom") && parent == Some(&own)
    };
    processes.filter_map(|it| it.file_name().to_str()?.parse().ok()).filter(is_orphan).collect()
}

/// Ends a child, and waits until it is gone.
fn end(child: libc::pid_t) {
    // SAFETY: it is our child and nobody else waits for it, so the number is still its own.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
}

/// The port that the driver says it listens at.
fn printed_port(stdout: impl std::io::BufRead) -> u16 {
    for line in stdout.lines().map_while(Result::ok) {
        if let Some(rest) = line.split(" on port ").nth(1).filter(|_| line.contains("started successfully")) {
            return rest.trim_end_matches('.').trim().parse().expect("a port");
        }
    }
    panic!("chromedriver ended without a word about its port");
}

/// The body of an answer.
fn answer(mut stream: BufReader<TcpStream>) -> io::Result<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(number) = line.strip_prefix("content-length:") {
            length = number.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}
