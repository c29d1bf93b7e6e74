import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParser;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Reads each line with Gson and writes it again, with Gson's defaults and nulls: what Gson wrote comes back unchanged.
 */
public class GsonTrip {
    public static void main(String[] args) throws IOException {
        Gson gson = new GsonBuilder().serializeNulls().create();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        OutputStream out = new BufferedOutputStream(System.out, 1 << 16);
        for (String line; (line = in.readLine()) != null; ) {
            String answer;
            try {
                answer = gson.toJson(JsonParser.parseString(line));
            } catch (RuntimeException e) {
                answer = ("ERROR " + e).replace('\n', ' ');
            }
            out.write(answer.getBytes(StandardCharsets.UTF_8));
            out.write("\n.\n".getBytes(StandardCharsets.US_ASCII));
            if (!in.ready()) {
                out.flush();
            }
        }
        out.flush();
    }
}
