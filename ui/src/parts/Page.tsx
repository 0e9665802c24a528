// The frame of a page: its title, what can be done there, and what it consists of.
import { Typography } from "antd";
import { useEffect, type ReactNode } from "react";

import { visited } from "../shell/recent";

type Props = {
  title: string;
  /** Beside the title, such as a status. */
  mark?: ReactNode;
  /** Beneath the title, in one line. */
  about?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
};

export function Page({ title, mark, about, actions, children }: Props) {
  useEffect(() => {
    document.title = `${title} · Hourhand`;
    visited({ path: window.location.pathname, title });
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <div className="page-title">
          <Typography.Title level={1}>{title}</Typography.Title>
          {mark}
        </div>
        {actions && <div className="page-actions">{actions}</div>}
        {about && <div className="page-about">{about}</div>}
      </header>
      {children}
    </div>
  );
}
