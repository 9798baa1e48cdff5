//! What the browser and page ports promise, shown on a real Chromium.
mod deaths;
mod dialogs;
mod eyes;
mod launching;
mod navigation;
mod reach;
mod site;
mod stage;
