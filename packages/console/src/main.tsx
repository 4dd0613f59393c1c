import './ui/look.css';
import { createRoot } from 'react-dom/client';

createRoot(document.getElementById('root')!).render(<main>Headrace</main>);
