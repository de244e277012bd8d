//! Gives the library the name under which programs ask for it, and puts the code together that every execution runs.
fn main() {
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets this for build scripts");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libthreadbare_rt.so");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-T,{folder}/hot_code.ld");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=hot_code.ld");
}
