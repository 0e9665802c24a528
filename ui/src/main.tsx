import "antd/dist/reset.css";
import "./style.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { Application } from "./app";
import { speak, startWords } from "./i18n";
import { chosen } from "./state/preferences";

const root = document.getElementById("root");
if (root === null) throw new Error("the page has no root");
await startWords(chosen().language);
await speak(chosen().language);
createRoot(root).render(
  <StrictMode>
    <Application />
  </StrictMode>,
);
