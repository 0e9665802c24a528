// The search over everything: tasks by name, an instance by its number, groups, pages, and what can be done from anywhere.
import { useNavigate } from "@tanstack/react-router";
import { Input, Modal } from "antd";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { focusOn } from "../parts/focus";
import { PauseDialog } from "../parts/PauseDialog";
import { useOffers } from "./offers";
import type { Offer } from "./found";

type Props = { open: boolean; onClose: () => void; onHelp: () => void };

export function Palette({ open, onClose, onHelp }: Props) {
  const { t } = useTranslation("shell");
  const [pausing, setPausing] = useState(false);
  return (
    <>
      <Modal
        open={open}
        onCancel={onClose}
        afterOpenChange={focusOn("search")}
        footer={null}
        closable={false}
        destroyOnHidden
        title={t("search.title")}
        className="palette"
      >
        <Search onGone={onClose} onHelp={onHelp} onPause={() => setPausing(true)} />
      </Modal>
      <PauseDialog open={pausing} onClose={() => setPausing(false)} scope="all" />
    </>
  );
}

function Search({ onGone, onHelp, onPause }: { onGone: () => void; onHelp: () => void; onPause: () => void }) {
  const { t } = useTranslation("shell");
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const found = useOffers(text.trim(), { pause: onPause, help: onHelp });
  const offers = found.flatMap((section) => section.offers);
  const chosen = Math.min(at, offers.length - 1);
  useEffect(() => {
    document.getElementById(`found-${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [chosen]);

  function go(offer: Offer | undefined) {
    if (offer === undefined) return;
    onGone();
    if (typeof offer.go === "function") offer.go();
    else void navigate(offer.go);
  }

  return (
    <div role="search">
      <Input
        id="search"
        value={text}
        placeholder={t("search.placeholder")}
        aria-label={t("search.placeholder")}
        role="combobox"
        aria-expanded={offers.length > 0}
        aria-controls="found"
        aria-autocomplete="list"
        aria-activedescendant={offers[chosen] ? `found-${chosen}` : undefined}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return; // Enter ends what an input method composes
          if (event.key === "ArrowDown") setAt((chosen + 1) % Math.max(1, offers.length));
          else if (event.key === "ArrowUp") setAt((chosen - 1 + offers.length) % Math.max(1, offers.length));
          else if (event.key === "Enter") go(offers[chosen]);
          else return;
          event.preventDefault();
        }}
      />
      <div id="found" className="found" role="listbox" aria-label={t("search.title")}>
        {found.map((section) => (
          <div key={section.name} role="group" aria-label={section.name}>
            <div className="found-name" aria-hidden="true">
              {section.name}
            </div>
            {section.offers.map((offer) => {
              const number = offers.indexOf(offer);
              return (
                <div
                  key={offer.key}
                  id={`found-${number}`}
                  className="found-one"
                  role="option"
                  aria-selected={number === chosen}
                  onMouseMove={() => setAt(number)}
                  onClick={() => go(offer)}
                >
                  <span>{offer.label}</span>
                  {offer.hint && <kbd>{offer.hint}</kbd>}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {offers.length === 0 && (
        <p className="dim" role="status">
          {t("search.none", { text })}
        </p>
      )}
    </div>
  );
}
