// An instant as a text: chosen by the clock that is shown, kept in UTC. No other clock has a say in it, nor has its summer time.
import { useState, type AriaAttributes } from "react";

import { useZone } from "../../time/zone";
import { LocalTime } from "../LocalTime";

type Props = AriaAttributes & {
  id: string;
  text: string;
  onChange: (text: string) => void;
  label: string;
  status?: "error";
  disabled: boolean;
  placeholder?: string;
};

export function Instant({ text, onChange, ...rest }: Props) {
  const zone = useZone();
  const [given, setGiven] = useState({ text, times: 0 });
  // Another text than was chosen here, such as one written as JSON: the field begins anew with it.
  if (given.text !== text) setGiven({ text, times: given.times + 1 });
  return (
    <LocalTime
      key={given.times}
      {...rest}
      zone={zone}
      seconds
      value={text === "" ? null : text}
      onChange={(at) => {
        const next = at?.replace(".000Z", "Z") ?? "";
        setGiven({ ...given, text: next });
        onChange(next);
      }}
    />
  );
}
