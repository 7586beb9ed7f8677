// Begins the page: logs in, asks for the trace and its timelines, and shows it.

import { render } from "preact";
import { App } from "./App";
import { logIn, report } from "./api";
import { load, loadNames } from "./load";
import { remember } from "./modal";
import { Start } from "./OpenFile";
import { opensFiles } from "./own";
import { connect } from "./state";
import { walk } from "./timeline/walk";

async function begin(): Promise<void> {
  await logIn().catch(report);
  connect();
  remember();
  const page = document.getElementById("page");
  if (page && opensFiles()) await new Promise<void>((opened) => render(<Start onOpened={opened} />, page));
  await loadNames();
  load();
  if (page) render(<App />, page);
  if (new URLSearchParams(location.search).has("walk")) await walk();
}

begin().catch(report);
