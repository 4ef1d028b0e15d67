// How finely the canvas is painted: full sharpness at rest, less while pictures come late.

// Pixels of the picture for a pixel of the screen, whether edges are smoothed, the size of solids
// from which they have outlines [pixels], and whether they throw shadows.
const LEVELS = [
  { share: 1, smooth: true, outlines: 4, shadows: true }, { share: 1, smooth: false, outlines: 4, shadows: true },
  { share: 0.71, smooth: false, outlines: 24, shadows: true }, { share: 0.5, smooth: false, outlines: 48, shadows: false },
];
const LATE = 21; // ms between two pictures

// Choose a level from the times at which pictures are asked for.
const makePace = () => {
  let level = 0, last = 0, times = [], patience = 4, calm = 0, given = false, first = 0;
  const go = (to) => {
    level = Math.min(LEVELS.length - 1, Math.max(0, to));
    times = [];
    calm = 0;
  };
  const judge = (time) => {
    if (time <= LATE) {
      // In time: sharper after a while, after a longer one where that did not go well.
      if (level > 0 && ++calm >= patience) {
        go(level - 1);
        patience = Math.min(64, 2 * patience);
      } else times = [];
    } else if (level === 0 && !first) {
      first = time;
      go(time > 2 * LATE ? 2 : 1);
    } else if (level < LEVELS.length - 1) go(level + 1);
    // What makes nothing faster is left: some screens are slow themselves.
    else if (time > 0.85 * first) {
      given = true;
      go(0);
    } else times = [];
  };
  return {
    get level() { return level; },
    rest: () => { last = 0; },
    // A picture of a motion is painted now [ms].
    paint: (now) => {
      if (last) times.push(now - last);
      last = now;
      const sum = times.reduce((a, b) => a + b, 0);
      if (given || times.length < 4 || (times.length < 24 && sum < 500)) return;
      // The first pictures of a level have to wait for those before.
      judge(times.slice(2).sort((a, b) => a - b)[(times.length - 2) >> 1]);
    },
  };
};

// Where pictures are painted: smoothed ones aside, and then onto the canvas.
const makeScreen = (gl, canvas) => {
  const samples = Math.min(4, gl.getParameter(gl.MAX_SAMPLES));
  let buffers = null;
  const drop = () => buffers?.forEach(({ frame, stores }) => {
    gl.deleteFramebuffer(frame);
    stores.forEach((store) => gl.deleteRenderbuffer(store));
  });
  const make = (width, height, samples, kinds) => {
    const frame = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
    const stores = kinds.map(([place, format]) => {
      const store = gl.createRenderbuffer();
      gl.bindRenderbuffer(gl.RENDERBUFFER, store);
      gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
      gl.framebufferRenderbuffer(gl.FRAMEBUFFER, place, gl.RENDERBUFFER, store);
      return store;
    });
    return { frame, stores, width, height };
  };
  const colour = [gl.COLOR_ATTACHMENT0, gl.RGBA8], depth = [gl.DEPTH_STENCIL_ATTACHMENT, gl.DEPTH24_STENCIL8];
  const copy = (from, to, { width, height }) => {
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, from);
    gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, to);
    gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
  };
  return {
    // Start a picture; returns how many of its pixels a length on the page has.
    begin: ({ share, smooth }) => {
      const ratio = share * (window.devicePixelRatio || 1);
      const width = Math.max(1, Math.round(canvas.clientWidth * ratio)), height = Math.max(1, Math.round(canvas.clientHeight * ratio));
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
      if (smooth && samples > 1 && (buffers?.[0].width !== width || buffers[0].height !== height)) {
        drop();
        buffers = [make(width, height, samples, [colour, depth]), make(width, height, 0, [colour])];
      }
      gl.bindFramebuffer(gl.FRAMEBUFFER, smooth && buffers ? buffers[0].frame : null);
      gl.viewport(0, 0, width, height);
      return ratio;
    },
    end: ({ smooth }) => {
      if (!smooth || !buffers) return;
      copy(buffers[0].frame, buffers[1].frame, buffers[0]);
      copy(buffers[1].frame, null, buffers[0]);
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    },
  };
};
