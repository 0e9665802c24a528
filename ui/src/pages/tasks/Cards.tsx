// The tasks as cards, where a table would not fit.
import { Length } from "../../parts/Time";
import { pausesOf } from "../../parts/pausing";
import { Alive, Name, Next, When } from "./cells";
import { Fared } from "./Fared";
import { RowActions } from "./RowActions";
import type { ListingProps } from "./Rows";

export function Cards({ tasks, lately, pauses, onRun, onPause }: ListingProps) {
  return (
    <ul className="tasks-cards">
      {tasks.map((task) => {
        const one = lately.get(task.id);
        const resting = pausesOf(task, pauses);
        return (
          <li key={task.id} className={task.enabled ? "" : "tasks-off"}>
            <div className="tasks-card-head">
              <Name task={task} />
              <RowActions task={task} pauses={resting} onRun={() => onRun(task)} onPause={() => onPause(task)} />
            </div>
            <div className="tasks-card-row">
              <When task={task} />
              <Next task={task} pauses={resting} />
            </div>
            <div className="tasks-card-row">
              <Fared stats={one} zone={task.timezone} />
              <span>
                <Length ms={one?.median_ms} /> <Alive task={task} stats={one} />
              </span>
            </div>
          </li>
        );
      })}
    </ul>
  );
}
