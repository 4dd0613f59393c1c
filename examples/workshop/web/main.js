import { connect } from './api.js';
import { shell } from './components/shell.js';
import { createFormat } from './format.js';
import { createTranslator } from './i18n/index.js';
import { applyPreferences, readPreferences, savePreferences } from './preferences.js';
import { resolveHash } from './routes.js';
import { createState } from './state.js';
import { mayAct } from '../shared/roles.js';

const NOTICE_MS = 5000;

// Reading `localStorage` throws in a sandboxed frame: the catch is not for old browsers.
function openStorage() {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

const storage = openStorage();
const state = createState({
  ...readPreferences(storage, navigator.languages ?? []),
  member: null,
  content: null,
  location: resolveHash(location.hash),
  notice: null,
  failure: null,
});

function viewOf(current) {
  return { ...current, t: createTranslator(current.language), format: createFormat(current.language) };
}

function draw(current) {
  applyPreferences(document.documentElement, current);
  document.querySelector('#app').innerHTML = String(shell(viewOf(current)));
}

function start(api) {
  // Only the newest navigation may show its result: an earlier one can be slower.
  let visit = 0;

  async function open() {
    const target = resolveHash(location.hash);
    visit += 1;
    const mine = visit;
    if (!mayAct(state.get().member, target.route.allow)) {
      location.hash = '#/sign-in';
      return;
    }
    try {
      const content = await target.route.page.load(api, target);
      if (mine === visit) state.set({ location: target, content, failure: null });
    } catch (failure) {
      if (mine === visit) state.set({ location: target, content: null, failure });
    }
  }

  const commands = {
    language: ({ value }) => remember({ language: value }),
    theme: ({ value }) => remember({ theme: value }),
    async signOut() {
      await api.remove('/api/session');
      state.set({ member: null });
      location.hash = '#/';
    },
  };

  function remember(choice) {
    state.set(choice);
    savePreferences(storage, state.get());
  }

  async function act(name, input) {
    const { page } = state.get().location.route;
    const action = commands[name] ?? page.actions?.[name];
    if (!action) return;
    try {
      const outcome = await action(input, api, viewOf(state.get()));
      if (outcome?.member) state.set({ member: outcome.member });
      if (outcome?.notice) announce(outcome.notice);
      if (outcome?.go && outcome.go !== location.hash) location.hash = outcome.go;
      else if (!commands[name]) await open();
    } catch (failure) {
      state.set({ failure });
    }
  }

  function announce(notice) {
    state.set({ notice });
    setTimeout(() => {
      if (state.get().notice === notice) state.set({ notice: null });
    }, NOTICE_MS);
  }

  function listen() {
    window.addEventListener('hashchange', open);
    document.addEventListener('click', (event) => {
      const button = event.target.closest('button[data-action]');
      if (button) act(button.dataset.action, { ...button.dataset });
    });
    document.addEventListener('submit', (event) => {
      event.preventDefault();
      act(event.target.dataset.action, Object.fromEntries(new FormData(event.target)));
    });
    document.addEventListener('change', (event) => {
      const { action } = event.target.dataset;
      if (action) act(action, { value: event.target.value });
    });
  }

  async function begin() {
    state.subscribe(draw);
    state.set({ preview: api.preview, member: await api.get('/api/session') });
    listen();
    await open();
  }
  return begin();
}

connect(fetch.bind(globalThis)).then(start);
