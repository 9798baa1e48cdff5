# `just` lists these. None of them is needed: each is one command.

_default:
    @just --list --unsorted

# Format, lints, tests, and nothing left running: what a change must pass
check:
    ./check

# The practice task in a real browser, with no key and no network
demo *arguments:
    ./demo {{ arguments }}

# Lay the code out
fmt:
    cargo fmt

# Lints, with and without the Chromium adapter
lint:
    cargo clippy --no-default-features --all-targets -- -D warnings
    cargo clippy --all-targets -- -D warnings

# Tests that need no browser; words after it choose some: `just test guard`
test *filter:
    cargo test --no-default-features --lib --test it --test floors {{ filter }}

# Tests on a real Chromium
live *filter:
    cargo test --test live {{ filter }}

# A run of 20 steps, measured: the runtime's part of each, tokens, prompt cache
bench-agent *arguments:
    bench/agent {{ arguments }}

# Side by side with another program for the same job (needs npm)
bench-peers *arguments:
    bench/peers/run {{ arguments }}

# How faults, hangs and starts are taken, measured: a table
bench-runtime *arguments:
    bench/runtime {{ arguments }}
