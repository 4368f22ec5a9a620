// A conversation in React: only what has changed is rendered again. The client has the option `view`.
import { memo, useSyncExternalStore } from "react";

const Message = memo(({ entry }) => <p className={entry.role}>{entry.text}</p>);

const ToolCall = memo(({ entry }) => <p className={entry.status}>{entry.title}</p>);

const Plan = memo(({ entry }) => (
  <ol>
    {entry.plan.entries?.map(({ content, status }) => <li className={status} key={content}>{content}</li>)}
  </ol>
));

const KINDS = { message: Message, tool_call: ToolCall, plan: Plan };

export function Conversation({ session }) {
  const { entries, state } = useSyncExternalStore(session.view.subscribe, session.view.getSnapshot);
  return (
    <section aria-busy={state !== "idle"}>
      {entries.map((entry) => {
        const Kind = KINDS[entry.type];
        return Kind && <Kind entry={entry} key={entry.index} />;
      })}
    </section>
  );
}
