// The browser that the page is tested in: Chromium without windows of its own, whose drawing would take most of the processors' time.

import { chromium } from "playwright-core";

/** Starts the Chromium that `CHROMIUM` names, else the one that ci/deps installs. */
export function launch(args) {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium-headless-shell", args });
}
