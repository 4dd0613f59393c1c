import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { ConflictEditor } from './ConflictEditor.jsx';
import './page.css';

async function ask(path, body) {
  const response = await fetch(path, body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
}

function Page() {
  const [read, setRead] = useState(null);
  const [note, setNote] = useState('Reading…');
  const load = async () => {
    try {
      setRead(await ask('/api/conflicts'));
      setNote('');
    } catch (error) {
      setNote(error.message);
    }
  };
  useEffect(() => void load(), []);

  async function decide(decisions) {
    const { status, conflicts, error } = await ask('/api/decide', { ...read, files: undefined, decisions, key: crypto.randomUUID() });
    if (status === 'applied') return setRead({ ...read, files: [] });
    await load();
    throw new Error(status === 'stale' ? 'The current version or the draft has changed meanwhile. Your decisions on unchanged files remain.' : (error ?? `Still in conflict: ${conflicts.join(', ')}`));
  }

  if (!read) return <p>{note}</p>;
  if (!read.files.length) return <p>The draft is applied, or has no conflicts.</p>;
  return <ConflictEditor files={read.files} onDecide={decide} />;
}

createRoot(document.getElementById('root')).render(<Page />);
