// Lines of any width in pixels: every segment is a rectangle that faces the eye.

const LINE = {
  vertex: `#version 300 es
    layout(location = 0) in vec3 a;
    layout(location = 1) in vec3 b;
    uniform mat4 toScreen;
    uniform vec3 position, scale;
    uniform vec4 rotation;
    uniform vec2 pixels;
    uniform float width, count, fading, nearest;
    out vec3 world;
    out float strength, aside;
    vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }
    void main() {
      vec3 ends[2] = vec3[2](position + turn(rotation, scale * a), position + turn(rotation, scale * b));
      vec4 p = toScreen * vec4(ends[0], 1.0), q = toScreen * vec4(ends[1], 1.0);
      // What is behind the eye is cut off.
      if (p.w < nearest) p = mix(p, q, clamp((nearest - p.w) / (q.w - p.w), 0.0, 1.0));
      if (q.w < nearest) q = mix(q, p, clamp((nearest - q.w) / (p.w - q.w), 0.0, 1.0));
      bool second = gl_VertexID == 1 || gl_VertexID == 3 || gl_VertexID == 4;
      aside = gl_VertexID == 0 || gl_VertexID == 1 || gl_VertexID == 3 ? -1.0 : 1.0;
      vec2 way = (q.xy / q.w - p.xy / p.w) * pixels;
      vec2 across = length(way) > 0.0 ? normalize(vec2(-way.y, way.x)) : vec2(0.0, 1.0);
      gl_Position = second ? q : p;
      gl_Position.xy += across * aside * (width + 1.0) / pixels * gl_Position.w;
      gl_Position.z -= 2e-4 * gl_Position.w;
      world = second ? ends[1] : ends[0];
      strength = mix(1.0, 0.12 + 0.88 * (float(gl_InstanceID) + (second ? 1.0 : 0.0)) / max(count, 1.0), fading);
    }`,
  fragment: `#version 300 es
    precision highp float;
    in vec3 world;
    in float strength, aside;
    uniform vec3 colour, centre;
    uniform float opacity, width, reach;
    out vec4 shade;
    void main() {
      float soft = clamp((width + 1.0) * (1.0 - abs(aside)), 0.0, 1.0);
      float far = reach > 0.0 ? 1.0 - smoothstep(0.45 * reach, reach, distance(world, centre)) : 1.0;
      shade = vec4(colour, opacity * strength * soft * far);
    }`,
};

const STILL = { p: [0, 0, 0], q: [1, 0, 0, 0], scale: [1, 1, 1] };

const linePainter = (gl) => {
  const names = ["toScreen", "position", "scale", "rotation", "pixels", "width", "count", "fading", "nearest",
    "colour", "centre", "opacity", "reach"];
  const { program, at } = compile(gl, LINE, names);
  return {
    // Keep segments (a, b, a, b, ...) for painting; they may change later.
    store: (values) => {
      const array = gl.createVertexArray(), buffer = gl.createBuffer();
      const fill = (lines) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.bufferData(gl.ARRAY_BUFFER, lines, gl.DYNAMIC_DRAW);
        stored.count = lines.length / 6;
      };
      const stored = { array, fill, count: 0 };
      gl.bindVertexArray(array);
      fill(values);
      for (const k of [0, 1]) {
        gl.enableVertexAttribArray(k);
        gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 24, 12 * k);
        gl.vertexAttribDivisor(k, 1);
      }
      gl.bindVertexArray(null);
      return stored;
    },
    begin: (camera) => {
      gl.useProgram(program);
      gl.uniformMatrix4fv(at.toScreen, false, camera.toScreen);
      gl.uniform2f(at.pixels, gl.drawingBufferWidth, gl.drawingBufferHeight);
      gl.uniform1f(at.nearest, camera.near);
    },
    paint: (stored, { place = STILL, colour, opacity = 1, width = 1, count = stored.count, fading = 0, centre = [0, 0, 0], reach = 0 }) => {
      if (count < 1) return;
      gl.uniform3fv(at.position, place.p);
      gl.uniform4fv(at.rotation, place.q);
      gl.uniform3fv(at.scale, place.scale);
      gl.uniform3fv(at.colour, colour);
      gl.uniform3fv(at.centre, centre);
      gl.uniform1f(at.opacity, opacity);
      gl.uniform1f(at.width, width * (window.devicePixelRatio || 1));
      gl.uniform1f(at.count, count);
      gl.uniform1f(at.fading, fading);
      gl.uniform1f(at.reach, reach);
      gl.bindVertexArray(stored.array);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, 6, count);
    },
  };
};

const edgesOf = (mesh) => {
  const vertices = unpack(mesh.vertices, Float32Array), edges = unpack(mesh.edges, Uint16Array);
  const lines = new Float32Array(3 * edges.length);
  edges.forEach((v, k) => lines.set(vertices.subarray(3 * v, 3 * v + 3), 3 * k));
  return lines;
};

