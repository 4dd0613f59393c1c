import { Link } from '@tanstack/react-router';

export const SourceLink = ({ appId, sourceId }: { appId: string; sourceId: string }) => (
  <Link to="/apps/$appId/sources/$sourceId" params={{ appId, sourceId }} className="link font-mono text-mono">
    {`src_…${sourceId.slice(-6)}`}
  </Link>
);
