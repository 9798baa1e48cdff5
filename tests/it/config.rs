//! Settings: which layer wins, and what is said of settings that cannot be used.
use std::fs;

use strawmanus::config::Settings;
use strawmanus::config::environment::Environment;
use strawmanus::config::home::Home;
use strawmanus::config::values::Headless;
use strawmanus::control::flags::Globals;
use strawmanus::domain::cost::Price;

use crate::fake::home;

fn load(home: &Home, file: &str, environment: &[(&str, &str)]) -> Result<Settings, String> {
    fs::write(home.config_file(), file).unwrap();
    let environment = environment.iter().copied().collect();
    let shown = |error: strawmanus::config::layers::ConfigError| {
        error.to_string().replace(&home.folder().display().to_string(), "[home]")
    };
    Settings::load(home, &environment, &[]).map_err(shown)
}

#[test]
fn every_layer_lies_above_the_one_before() {
    let (_root, home) = home();
    let file = "[limits]\nsteps = 7\naction = \"2s\"\nnavigation = \"3s\"\n[tab]\n[browser]\narguments = [\"--a b\"]";
    fs::write(home.config_file(), file).unwrap();
    let folder = home.folder().join("project");
    fs::create_dir(&folder).unwrap();
    fs::write(
        folder.join(".env"),
        "STRAWMANUS_LIMITS__ACTION=8s\nSTRAWMANUS_LIMITS__NAVIGATION=9s",
    )
    .unwrap();
    let environment: Environment = [
        ("STRAWMANUS_LIMITS__ACTION", "4s"),
        ("STRAWMANUS_LIMITS__STEPS", "5"),
        ("STRAWMANUS_HOME", "/x"),
    ]
    .into_iter()
    .collect();
    let environment = environment.with_file_of(&folder);
    let flags = Globals { max_steps: Some(6), headless: true, ..Globals::default() };
    let settings = Settings::load(&home, &environment, &flags.settings()).unwrap();

    let limits = &settings.config.limits;
    let read = (limits.steps.get(), limits.action.to_string(), limits.navigation.to_string());
    assert_eq!(read, (6, "4s".to_owned(), "9s".to_owned()));
    assert_eq!(settings.config.browser.headless, Headless::Always);
    assert_eq!(settings.config.browser.arguments, ["--a b"]);
    let set = settings.layers.iter().filter(|(_, setting)| setting.origin.to_string() != "default");
    let origins: Vec<_> = set.map(|(key, setting)| format!("{key}: {}", setting.origin)).collect();
    let origins = origins.join("\n").replace(&home.folder().display().to_string(), "[home]");
    insta::assert_snapshot!(origins, @r"
    browser.arguments: [home]/config.toml
    browser.headless: --headless
    limits.action: environment STRAWMANUS_LIMITS__ACTION
    limits.navigation: STRAWMANUS_LIMITS__NAVIGATION in [home]/project/.env
    limits.steps: --max-steps
    ");
}

#[test]
fn every_error_names_its_place_and_what_to_do() {
    let (_root, home) = home();
    let cases: &[(&str, &[(&str, &str)])] = &[
        ("[limits]\nstep_s = 3", &[]),
        ("[limit]\nsteps = 3", &[]),
        ("steps = 3", &[]),
        ("[zebra]", &[]),
        ("limits = 3", &[]),
        ("[limits]\nsteps = 0", &[]),
        ("[limits]\nsteps = \"many\"", &[]),
        ("[limits]\naction = \"soon\"", &[]),
        ("[browser]\nviewport = \"wide\"", &[]),
        ("[browser]\nheadless = \"maybe\"", &[]),
        ("[browser]\nprofile = \"mine\"", &[]),
        ("[limits\nsteps = 3", &[]),
        ("", &[("STRAWMANUS_LIMITS__STEPS", "x")]),
        ("", &[("STRAWMANUS_LIMITS__STEPZ", "3")]),
        ("", &[("STRAWMANUS_QUUX", "3")]),
        ("", &[("STRAWMANUS_LIMITS__STEPS", "-3")]),
        ("", &[("STRAWMANUS_LIMITS__COST", "cheap")]),
        ("[model]\nwire = \"telegraph\"", &[]),
        ("[model]\nsees = \"maybe\"", &[]),
        ("[price]\ngpt-5 = 3.0", &[]),
        ("[price.gpt-5]\nread = 3.0", &[]),
        ("[price.\"mine-4.1\"]\ninput = 3.0", &[]),
        ("[price.mine]\ninput = \"much\"\noutput = 3.0", &[]),
    ];
    let errors: Vec<_> = cases
        .iter()
        .map(|(file, environment)| {
            let error = load(&home, file, environment).expect_err(file);
            format!("{file:?} {environment:?}\n    {}", error.replace('\n', "\n    "))
        })
        .collect();
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn any_model_may_have_a_price() {
    let (_root, home) = home();
    let file = "[price.\"mine-4.1\"]\ninput = 2\noutput = 8.5\n\
        [price.\"claude-sonnet-5\"]\ninput = 9.0\n[limits]\ncost = 2";
    let environment =
        [("STRAWMANUS_PRICE__OURS.V2__INPUT", "1.5"), ("STRAWMANUS_PRICE__OURS.V2__OUTPUT", "3")];
    let settings = load(&home, file, &environment).unwrap();
    let price = |model: &str| settings.config.price_of(model).unwrap();
    let mine = Price { input: 2.0, output: 8.5, cached: None, written: None };
    assert_eq!(price("mine-4.1-mini"), mine);
    assert_eq!(price("ours.v2").output, 3.0);
    let sonnet = price("claude-sonnet-5");
    assert_eq!((sonnet.input, sonnet.output), (9.0, 15.0), "what is not said stays");
    assert_eq!(settings.config.limits.cost, 2.0);
    let origin = |key: &str| {
        let found = settings.layers.iter().find(|(name, _)| *name == key).unwrap();
        found.1.origin.to_string().replace(&home.folder().display().to_string(), "[home]")
    };
    assert_eq!(origin("price.mine-4.1.input"), "[home]/config.toml");
    assert_eq!(origin("price.claude-sonnet-5.output"), "default");
}

#[test]
fn a_folder_decides_neither_what_is_started_nor_who_gets_the_key() {
    let (_root, home) = home();
    let folder = home.folder().join("download");
    fs::create_dir(&folder).unwrap();
    let load = |file: &str| {
        fs::write(folder.join(".env"), file).unwrap();
        let environment = Environment::default().with_file_of(&folder);
        Settings::load(&home, &environment, &[]).map(|settings| settings.config.model.base_url)
    };
    for file in [
        "STRAWMANUS_BROWSER__EXECUTABLE=/evil",
        "STRAWMANUS_BROWSER__ARGUMENTS=--evil",
        "STRAWMANUS_MODEL__BASE_URL=http://evil.localhost",
    ] {
        let error = load(file).unwrap_err().to_string();
        assert!(error.contains("may not come from"), "{error}");
    }
    let own = load("ANTHROPIC_API_KEY=its-own\nSTRAWMANUS_MODEL__BASE_URL=http://a.localhost");
    assert_eq!(own.unwrap(), "http://a.localhost", "with a key of its own it may");
    let foreign: Environment = [("ANTHROPIC_API_KEY", "the-users")].into_iter().collect();
    let both = "OPENAI_API_KEY=its-own\nSTRAWMANUS_MODEL__BASE_URL=http://a.localhost";
    fs::write(folder.join(".env"), both).unwrap();
    let error = Settings::load(&home, &foreign.with_file_of(&folder), &[]).unwrap_err();
    assert!(error.to_string().contains("may not come from"), "{error}");
    fs::write(folder.join(".env"), "STRAWMANUS_HOME=/evil").unwrap();
    let environment = Environment::default().with_file_of(&folder);
    let found = Home::find(&environment, &folder).unwrap();
    assert!(!found.folder().starts_with("/evil"), "{found:?}");
}
