/** The style sheet of the widget. It is constructed by the script, so a strict content policy of the page allows it. */
export const WIDGET_STYLE = `
:host { all: initial; color-scheme: light; --brand: #1f4fd1; --on-brand: #fff; --surface: #fff; --sunken: #eef0f4; --line: #c6ccd6;
  --border: #7d8695; --text: #151a22; --muted: #555e6c; --bad: #b0261d; --focus: #111; }
@media (prefers-color-scheme: dark) {
  :host { color-scheme: dark; --surface: #151a21; --sunken: #262d38; --line: #3b4554; --border: #7f8a9a; --text: #e6e9ef;
    --muted: #a7b0be; --bad: #ff938a; --focus: #fff; }
}
:host([hidden]), [hidden] { display: none !important; }
* { box-sizing: border-box; }
aside { font: 15px/1.45 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  color: var(--text); text-align: start; }
button, input, textarea { font: inherit; color: inherit; }
button { cursor: pointer; border: 0; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
svg { width: 24px; height: 24px; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.launcher { position: fixed; inset-block-end: 20px; inset-inline-end: 20px; z-index: 2147483000; width: 56px; height: 56px;
  display: grid; place-items: center; border-radius: 50%; background: var(--brand); color: var(--on-brand);
  box-shadow: 0 4px 14px rgb(0 0 0 / .3); }
.badge { position: absolute; inset-block-start: -4px; inset-inline-end: -4px; min-width: 22px; height: 22px; padding: 0 6px;
  border-radius: 11px; background: #b0261d; color: #fff; font-size: 13px; line-height: 22px; text-align: center; }
.panel { position: fixed; inset-block-end: 88px; inset-inline-end: 20px; z-index: 2147483001; width: 380px;
  max-width: calc(100vw - 40px); height: 600px; max-height: calc(100vh - 108px); display: flex; flex-direction: column;
  overflow: hidden; border: 1px solid var(--line); border-radius: 14px; background: var(--surface);
  box-shadow: 0 10px 34px rgb(0 0 0 / .3); }
header { display: flex; align-items: center; gap: 10px; padding: 12px 14px; background: var(--brand); color: var(--on-brand); }
header img { width: 32px; height: 32px; border-radius: 6px; object-fit: contain; background: #fff; }
h2 { flex: 1; min-width: 0; margin: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: 16px; font-weight: 600; }
.close { width: 40px; height: 40px; display: grid; place-items: center; border-radius: 8px; background: none; color: inherit; }
header :focus-visible { outline-color: currentColor; }
.log { flex: 1; overflow-y: auto; overscroll-behavior: contain; padding: 14px; display: flex; flex-direction: column; gap: 10px; }
.welcome { margin: 0; color: var(--muted); white-space: pre-wrap; }
.message { max-width: 85%; align-self: flex-start; }
.message p { margin: 0; padding: 8px 12px; border-radius: 14px 14px 14px 4px; background: var(--sunken);
  white-space: pre-wrap; overflow-wrap: anywhere; }
.message a { color: inherit; }
.message.visitor { align-self: flex-end; }
.message.visitor p { border-radius: 14px 14px 4px; background: var(--brand); color: var(--on-brand); }
.message time, .working { display: block; margin-block-start: 2px; color: var(--muted); font-size: 12px; }
.message.visitor time { text-align: end; }
.failed { margin: 2px 0 0; color: var(--bad); font-size: 13px; text-align: end; }
.failed button { padding: 4px; background: none; color: inherit; text-decoration: underline; }
.status { margin: 0; padding: 0 14px; color: var(--bad); font-size: 13px; }
.status:not(:empty) { padding-block-end: 8px; }
form { display: grid; gap: 8px; padding: 12px 14px; border-block-start: 1px solid var(--line); }
.line { display: flex; align-items: flex-end; gap: 8px; }
textarea, input { width: 100%; padding: 8px 10px; border: 1px solid var(--border); border-radius: 8px; background: var(--surface); }
textarea { flex: 1; min-height: 42px; max-height: 130px; resize: none; field-sizing: content; }
.send { flex: none; min-height: 42px; padding: 0 14px; border-radius: 8px; background: var(--brand); color: var(--on-brand); font-weight: 600; }
summary { padding: 2px 0; color: var(--muted); font-size: 13px; cursor: pointer; }
details label { display: block; margin-block-start: 6px; font-size: 13px; }
details input { margin-block-start: 6px; }
.hint { margin: 4px 0 0; color: var(--muted); font-size: 12px; }
.only-read { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 480px) {
  .panel { inset: 0; width: auto; max-width: none; height: auto; max-height: none; border: 0; border-radius: 0; }
  textarea, input { font-size: 16px; }
}
@media (forced-colors: active) { .launcher, .send, .panel { border: 1px solid; } }
`
