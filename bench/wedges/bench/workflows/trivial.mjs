export default () => ({ ok: true })
